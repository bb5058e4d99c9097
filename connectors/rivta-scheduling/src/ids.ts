import { subjectOfCarePattern } from './settings.ts';

const prefix = 'se_personal_number:';

/** The number in a patient's id at the port. `undefined`: no patient of this EHR can have this id. */
export function subjectOf(patientId: string): string | undefined {
  const number = patientId.startsWith(prefix) ? patientId.slice(prefix.length) : '';
  return subjectOfCarePattern.test(number) ? number : undefined;
}

/** The patient's id at the port. */
export function patientIdOf(subject: string): string {
  return prefix + subject;
}

/** Whether two numbers are the same. The letter of a reserve number has no case of its own. */
export function isSameSubject(one: string | undefined, other: string): boolean {
  return one?.toUpperCase() === other.toUpperCase();
}

/** What must be known to look up a booking: only the list of a patient says for sure that a booking is gone. */
export interface BookingKey {
  readonly subject: string;
  /** HSA id of the unit that owns the schedule. */
  readonly facility: string;
  readonly bookingId: string;
}

/** The id of an appointment at the port. The gateway shows it as a token, because it has the patient's number. */
export function appointmentIdOf({ subject, facility, bookingId }: BookingKey): string {
  return [subject, facility, bookingId].join('/');
}

/** `undefined`: no appointment can have this id. */
export function bookingKeyOf(appointmentId: string): BookingKey | undefined {
  const [subject = '', facility = '', ...rest] = appointmentId.split('/');
  const bookingId = rest.join('/');
  return subjectOfCarePattern.test(subject) && facility && bookingId ? { subject, facility, bookingId } : undefined;
}
