import { ConnectorError } from '@crossward/connector-kit';
import { type FhirAppointment, localReference, referenceTo } from '../../fhir.ts';
import type { WriteResponse } from '../../server/client.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { afterWriting, isBroken, isConflict, LostRace, unknownOutcome } from '../write/outcomes.ts';
import type { OperationCall } from './form.ts';
import { appointmentsIn, wasRejected } from './parameters.ts';

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
