import { randomUUID } from 'node:crypto';
import { ConnectorError, type ProbeFinding } from '@crossward/connector-kit';
import { rightToWrite } from '@crossward/connector-kit/rest';
import { withdraw } from '../booking/write/appointment.ts';
import { bodyOf } from '../booking/write/own-body.ts';
import type { FhirAppointment } from '../fhir.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { FhirConnection } from '../server/connection.ts';
import type { BookingMode } from '../settings.ts';
import { attempt } from './attempt.ts';

/**
 * Whether the client may book by `create`, and whether the server checks what it books: by a booking that it must refuse for
 * another reason, of nobody and in a Slot that does not exist. The other modes have proofs that write.
 */
export async function probeRightToBook(
  ehr: FhirConnection,
  mode: BookingMode,
  facts: ServerFacts,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<void> {
  const { booking = {}, patient_header } = ehr.settings;
  const isOffered = booking.changes?.includes('create') ?? true;
  if (mode !== 'create' || !isOffered || !facts.can('Appointment', 'create')) return;
  const name = 'right to book';
  if (patient_header) {
    const detail = 'A booking names a patient in a header, and the check asks for nobody.';
    findings.push({ name, status: 'untried', detail });
    return;
  }
  let left: string | null | undefined;
  const finding = await attempt(findings, name, () =>
    rightToWrite(async () => {
      const made = await ehr.client.create(bodyOf(ehr, { before: null, after: bookingOfNobody() }));
      if (!made.ok) throw made.rejection ?? new ConnectorError('rejected', `The EHR responded with ${made.status}`);
      left = (await withdraw(ehr, made.reference)) ? null : (made.reference ?? 'Appointment');
    }),
  );
  if (left !== undefined) recommended.booking = { ...booking, mode: 'none' };
  const still = left ? ` ${left} could not be removed again.` : '';
  if (finding) findings.push({ name, status: finding[0], detail: finding[1] + still });
}

function bookingOfNobody(): FhirAppointment {
  return {
    resourceType: 'Appointment',
    status: 'booked',
    slot: [{ reference: `Slot/${randomUUID()}` }],
    participant: [{ actor: { reference: `Patient/${randomUUID()}` }, status: 'accepted' }],
  };
}
