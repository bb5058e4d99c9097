import { subjectOfCarePattern } from './patient-id.ts';

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
