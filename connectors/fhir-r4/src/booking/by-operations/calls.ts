import { ConnectorError } from '@crossward/connector-kit';
import {
  type FhirAppointment,
  type FhirResource,
  isBundle,
  localReference,
  type Parameter,
  type Parameters,
  referenceTo,
  typeOf,
} from '../../fhir.ts';
import type { WriteResponse } from '../../server/client.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { hasFailed, isOutcome } from '../../server/outcome.ts';
import { afterWriting, isBroken, isConflict, LostRace, unknownOutcome } from '../write/outcomes.ts';
import type { OperationCall, Wanted, Words } from './form.ts';

/** Calls `$find`. */
export async function proposals(
  ehr: BookingConnection,
  parameter: readonly Parameter[],
): Promise<readonly FhirAppointment[]> {
  const parameters = { resourceType: 'Parameters', parameter } as const;
  const response = await ehr.client.operation('Appointment/$find', parameters, { reads: true });
  if (!response.ok) throw response.rejection ?? new ConnectorError('rejected', 'The EHR rejected $find');
  return appointmentsIn(response.body);
}

/**
 * Calls an operation that writes.
 *
 * @throws LostRace if the server reports that another write was faster; ConnectorError `outcome_unknown` if it may be
 * done
 */
export async function call(
  ehr: BookingConnection,
  { path, parameter }: OperationCall,
  wanted: 'taken' | 'cancelled' = 'taken',
): Promise<WriteResponse> {
  const isRefused = (body: unknown) => wasRejected(body, wanted);
  const response = await ehr.client.operation(path, { resourceType: 'Parameters', parameter }, { isRefused });
  if (response.ok && !isRefused(response.body)) return response;
  if (response.ok || isConflict(response.status)) throw new LostRace();
  if (isBroken(response.status)) throw unknownOutcome(response.rejection);
  throw response.rejection ?? new ConnectorError('rejected', `The EHR responded with ${response.status}`);
}

/** The appointment that an operation wrote, with its version. */
export async function appointmentOf(
  { client }: BookingConnection,
  { body, reference }: WriteResponse,
): Promise<FhirAppointment> {
  const [appointment] = appointmentsIn(body);
  if (appointment?.meta?.versionId) return appointment;
  const named = appointment?.id ? referenceTo(appointment) : localReference({ reference: reference ?? '' });
  if (!named?.startsWith('Appointment/')) throw unknownOutcome();
  const read = await afterWriting(() => client.read<FhirAppointment>(named));
  if (read) return read;
  throw unknownOutcome();
}

export function range({ start, end }: Wanted, startName: string, endName: string): Parameter[] {
  return [
    { name: startName, valueDateTime: start.toISOString() },
    { name: endName, valueDateTime: end.toISOString() },
  ];
}

/** `$find` has no parameter for a Device, so the proposals are filtered by device. */
export function actorParameter({ actor }: Wanted, value: (reference: string) => Partial<Parameter>): Parameter[] {
  const names: Readonly<Record<string, string>> = { Practitioner: 'practitioner', Location: 'location-reference' };
  const name = names[typeOf(actor)];
  return name === undefined ? [] : [{ name, ...value(actor) }];
}

/** Tokens with both system and code. */
export function visitTypes({ appointment }: Wanted): Parameter[] {
  return (appointment.serviceType ?? [])
    .flatMap(({ coding }) => coding ?? [])
    .filter(({ system, code }) => system !== undefined && code !== undefined)
    .map(({ system, code }) => ({ name: 'visit-type', valueString: `${system}|${code}` }));
}

export function commentParameter({ comment }: Words, name: string): Parameter[] {
  return comment === undefined ? [] : [{ name, valueString: comment }];
}

/** The appointments in the response of an operation: a Bundle (IHE, Argonaut), an Appointment, or a `return` parameter with either. */
export function appointmentsIn(body: unknown): FhirAppointment[] {
  return resourcesIn(body).flatMap((it) => (it.resourceType === 'Appointment' ? [it as FhirAppointment] : []));
}

/**
 * Whether an operation with a 2xx status was rejected: IHE then returns only an OperationOutcome, Argonaut an
 * Appointment that is `cancelled`.
 */
function wasRejected(body: unknown, wanted: 'taken' | 'cancelled'): boolean {
  const [appointment] = appointmentsIn(body);
  if (appointment) return (appointment.status === 'cancelled') !== (wanted === 'cancelled');
  return resourcesIn(body).some((it) => isOutcome(it) && hasFailed(it));
}

function resourcesIn(body: unknown): FhirResource[] {
  const resource = body as FhirResource | undefined;
  if (isBundle(resource)) return (resource.entry ?? []).flatMap((it) => it.resource ?? []);
  if (resource?.resourceType !== 'Parameters') return resource === undefined ? [] : [resource];
  return ((resource as Parameters).parameter ?? []).flatMap((it) => resourcesIn(it.resource));
}
