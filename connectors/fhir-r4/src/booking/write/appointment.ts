import { ConnectorError } from '@crossward/connector-kit';
import { type FhirAppointment, referenceTo } from '../../fhir.ts';
import type { WriteResponse } from '../../server/client.ts';
import type { BookingConnection, FhirConnection } from '../../server/connection.ts';
import { afterWriting, isBroken, isConflict, LostRace, unknownOutcome } from './outcomes.ts';
import { versionOf } from './version.ts';

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
): Promise<FhirAppointment> {
  const { client, dialect, operationLookup } = ehr;
  if (before !== null) return changeAppointment(ehr, before, after);
  const ifNoneExist = operationLookup ? { ifNoneExist: `identifier=${dialect.operationSystem}|${key}` } : {};
  return stored(ehr, await client.create(after, ifNoneExist));
}

/** Writes the whole resource under the version that was read, or the elements that differ as JSON Patch. */
export async function changeAppointment(
  ehr: FhirConnection,
  before: FhirAppointment,
  after: FhirAppointment,
): Promise<FhirAppointment> {
  const ifMatch = versionOf(before);
  if (ehr.changesBy === 'put') return stored(ehr, await ehr.client.update(after, { ifMatch }), before);
  const patch = jsonPatch({ ...before }, { ...after });
  if (patch.length === 0) return before;
  return stored(ehr, await ehr.client.patch(referenceTo(before), patch, { ifMatch }), before);
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

/** Some servers respond without a body: https://fhir.cerner.com/millennium/r4/base/workflow/appointment */
async function stored(
  ehr: FhirConnection,
  response: WriteResponse,
  before?: FhirAppointment,
): Promise<FhirAppointment> {
  if (isConflict(response.status)) throw new LostRace();
  if (isBroken(response.status)) throw unknownOutcome(response.rejection);
  if (!response.ok)
    throw response.rejection ?? new ConnectorError('rejected', `The EHR responded with ${response.status}`);
  if (response.resource?.resourceType === 'Appointment' && response.resource.id)
    return response.resource as FhirAppointment;
  const reference = before ? referenceTo(before) : response.reference;
  const appointment =
    reference === undefined ? null : await afterWriting(() => ehr.client.read<FhirAppointment>(reference));
  if (appointment) return appointment;
  throw unknownOutcome();
}
