import { ConnectorError } from '@crossward/connector-kit';
import type { WriteAnswer } from '../client.ts';
import type { FhirConnection } from '../connection.ts';
import { type FhirAppointment, localReference, referenceTo } from '../fhir.ts';
import { afterWriting, isBroken, isConflict, LostRace, unknownOutcome } from './lost-race.ts';
import { appointmentsIn, wasRefused } from './operation-answers.ts';
import type { OperationCall } from './operation-forms.ts';

/**
 * Asks for an operation that changes something.
 *
 * @throws LostRace when the server says that somebody was faster; `outcome_unknown` when it may be done
 */
export async function call(
  ehr: FhirConnection,
  { path, parameter }: OperationCall,
  wanted: 'taken' | 'cancelled' = 'taken',
): Promise<WriteAnswer> {
  const answer = await ehr.client.operation(path, { resourceType: 'Parameters', parameter });
  if (answer.ok && !wasRefused(answer.body, wanted)) return answer;
  if (answer.ok || isConflict(answer.status)) throw new LostRace();
  if (isBroken(answer.status)) throw unknownOutcome(answer.refusal);
  throw answer.refusal ?? new ConnectorError('rejected', `The EHR answered ${answer.status}`);
}

/** With its version, for what is written next. */
export async function appointmentOf(
  { client }: FhirConnection,
  { body, reference }: WriteAnswer,
): Promise<FhirAppointment> {
  const [appointment] = appointmentsIn(body);
  if (appointment?.meta?.versionId) return appointment;
  const named = appointment?.id ? referenceTo(appointment) : localReference({ reference: reference ?? '' });
  if (!named?.startsWith('Appointment/')) throw unknownOutcome();
  const read = await afterWriting(() => client.read<FhirAppointment>(named));
  if (read) return read;
  throw unknownOutcome();
}
