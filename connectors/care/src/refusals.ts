import { ConnectorError, type ConnectorErrorKind } from '@crossward/connector-kit';
import { isPage, noAnswer } from '@crossward/connector-kit/rest';

/** Words of CARE's own, which name nobody, and what they mean. */
const words: readonly (readonly [RegExp, ConnectorErrorKind, code: string, publicDetail?: string])[] = [
  [/slot is already (past|full)|already has a booking for this slot/i, 'time_slot_unavailable', 'slot_taken'],
  [/patient not found/i, 'patient_not_found', 'patient_not_found'],
  [/in-consultation/i, 'appointment_started', 'in_consultation'],
  [
    /maximum number of appointments/i,
    'change_not_allowed',
    'too_many_appointments',
    'The patient has as many future appointments as the EHR allows.',
  ],
  [/non-draft invoice/i, 'change_not_allowed', 'invoiced', 'The appointment is on an invoice.'],
  [/is not unique/i, 'rejected', 'number_not_unique'],
];

/** The error for an answer that is no success. The words of CARE are not repeated: they can contain anything. */
export function refusalOf(answered: number, text: string): ConnectorError {
  if (isPage(text)) return noAnswer();
  const status = statusIn(answered, text);
  const known = status === 400 ? words.find(([pattern]) => pattern.test(text)) : undefined;
  if (known) {
    const [, kind, code, publicDetail] = known;
    return new ConnectorError(kind, `The EHR refused: ${code}`, { refusal: { status, code }, publicDetail });
  }
  const isRight = status === 403 ? ': its user may not do this' : '';
  return new ConnectorError('rejected', `The EHR responded ${status}${isRight}`, { refusal: { status } });
}

/** A batch is refused with 400, whatever the reason for which one of its requests is. */
function statusIn(status: number, text: string): number {
  if (status !== 400) return status;
  if (text.includes('object_locked')) return 423;
  return Number(/"status_code":\s*(40[34])\b/.exec(text)?.[1] ?? status);
}

/** Whether CARE has no such record, or does not show it to the gateway's user. */
export function isAbsence(error: unknown): boolean {
  return error instanceof ConnectorError && error.refusal?.status === 404;
}

export function undefinedIfAbsent(error: unknown): undefined {
  if (!isAbsence(error)) throw error;
}
