import { ConnectorError } from '@crossward/connector-kit';
import { type FhirAppointment, type FhirResource, referenceTo } from '../../fhir.ts';
import type { WriteResponse } from '../../server/client.ts';
import type { BookingConnection, FhirConnection } from '../../server/connection.ts';
import { operationSystem } from '../operation-ids.ts';
import { afterWriting, isBroken, isConflict, LostRace, unknownOutcome } from './outcomes.ts';

/** An appointment before and after a write. */
export interface PlannedAppointment {
  /** `null`: it is to be created. */
  readonly before: FhirAppointment | null;
  readonly after: FhirAppointment;
  /** The operation identifier that shows that the creation is done. */
  readonly key: string;
}

/** Creates or changes one appointment. Returns it as the EHR stored it. */
export async function writeAppointment(
  ehr: BookingConnection,
  { before, after, key }: PlannedAppointment,
  body = after,
): Promise<FhirAppointment> {
  const { client, operationLookup } = ehr;
  if (before !== null) return changeAppointment(ehr, before, after, body);
  const ifNoneExist = operationLookup ? { ifNoneExist: `identifier=${operationSystem}|${key}` } : {};
  return stored(ehr, await client.create(body, ifNoneExist), { asks: body !== after });
}

/**
 * Writes the whole resource under the version that was read, or the elements that differ as JSON Patch.
 *
 * @param body what a server wants in place of the resource. Without elements that somebody else may have changed, it needs no
 * version where the server has none
 */
export async function changeAppointment(
  ehr: FhirConnection,
  before: FhirAppointment,
  after: FhirAppointment,
  body = after,
): Promise<FhirAppointment> {
  const isWhole = Object.keys(after).every((name) => name in body);
  const ifMatch = isWhole ? versionOf(before) : before.meta?.versionId;
  if (ifMatch === undefined) await expectUnchanged(ehr, before, body);
  if (ehr.changesBy === 'put') {
    return stored(ehr, await ehr.client.update(body, { ifMatch }), { before, asks: body !== after });
  }
  const patch = jsonPatch({ ...before }, { ...after });
  if (patch.length === 0) return before;
  return stored(ehr, await ehr.client.patch(referenceTo(before), patch, { ifMatch }), { before });
}

/**
 * Where no version tells, the elements that a body writes are read again right before, since a search of free times can have taken
 * seconds.
 *
 * @throws LostRace
 */
async function expectUnchanged({ client }: FhirConnection, before: FhirAppointment, body: FhirAppointment) {
  const now = await client.read<FhirAppointment>(referenceTo(before));
  const own = (it: FhirAppointment | null) =>
    JSON.stringify([it?.status, ...Object.keys(body).map((name) => name !== 'meta' && it && Reflect.get(it, name))]);
  if (own(now) !== own(before)) throw new LostRace();
}

/** https://www.rfc-editor.org/rfc/rfc6902, element by element. */
function jsonPatch(before: Record<string, unknown>, after: Record<string, unknown>): object[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): object[] => {
    if (JSON.stringify(before[name]) === JSON.stringify(after[name])) return [];
    const path = `/${name}`;
    if (after[name] === undefined) return [{ op: 'remove', path }];
    return [{ op: before[name] === undefined ? 'add' : 'replace', path, value: after[name] }];
  });
}

/**
 * Some servers respond without a body: https://fhir.cerner.com/millennium/r4/base/workflow/appointment
 *
 * @param options `asks`: whether to read the Appointment, because the response may not show all of it
 */
async function stored(
  ehr: FhirConnection,
  response: WriteResponse,
  { before, asks = false }: { readonly before?: FhirAppointment; readonly asks?: boolean } = {},
): Promise<FhirAppointment> {
  if (isConflict(response.status)) throw new LostRace();
  if (isBroken(response.status)) throw unknownOutcome(response.rejection);
  if (!response.ok)
    throw response.rejection ?? new ConnectorError('rejected', `The EHR responded with ${response.status}`);
  if (!asks && response.resource?.resourceType === 'Appointment' && response.resource.id)
    return response.resource as FhirAppointment;
  const reference = before ? referenceTo(before) : response.reference;
  const appointment =
    reference === undefined ? null : await afterWriting(() => ehr.client.read<FhirAppointment>(reference));
  if (appointment) return appointment;
  throw unknownOutcome();
}

/**
 * Removes an appointment that should not exist, or marks it as `entered-in-error`.
 *
 * @returns whether either was done
 */
export async function withdraw(
  { client }: Pick<FhirConnection, 'client'>,
  reference: string | undefined,
): Promise<boolean> {
  if (reference === undefined) return false;
  const removed = await client.remove(reference);
  if (removed.ok) return true;
  const appointment = await client.read<FhirAppointment>(reference);
  if (!appointment) return true;
  const { slot: _, ...rest } = appointment;
  const marked = await client.update({ ...rest, status: 'entered-in-error' } as FhirAppointment, {
    ifMatch: appointment.meta?.versionId,
  });
  return marked.ok;
}

/** @throws ConnectorError for a resource without a version: a write could overwrite another one */
export function versionOf(resource: FhirResource): string {
  const version = resource.meta?.versionId;
  if (version) return version;
  throw new ConnectorError('rejected', `The EHR sends ${resource.resourceType}s without a version`);
}
