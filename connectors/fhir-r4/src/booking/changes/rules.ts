import { type AppointmentChange, type AppointmentCreation, ConnectorError } from '@crossward/connector-kit';
import type { FhirAppointment } from '../../fhir.ts';
import { type AppointmentDialect, hasStarted, standingOf, withComment, withHold } from '../../mappers/appointment.ts';
import { timeTaken } from '../write/outcomes.ts';

export type ChangeOfExisting = Exclude<AppointmentChange, AppointmentCreation>;

/** What a change does to an appointment and to its slots. */
export interface Ruling {
  readonly after: FhirAppointment;
  /** `finish`: those that are still tentative become busy. */
  readonly slots: 'stay' | 'free' | 'book' | 'finish' | { readonly holdUntil: Date };
}

/**
 * Applies a change to an appointment, by the state that the appointment is in. Returns the same object if nothing changes.
 *
 * @throws ConnectorError if the state does not allow the change
 */
export function ruleOn(
  appointment: FhirAppointment,
  change: ChangeOfExisting,
  dialect: AppointmentDialect,
  now: Date,
): Ruling {
  const { state, hasExpired } = standingOf(appointment, now);
  const unchanged: Ruling = { after: appointment, slots: 'stay' };
  switch (change.kind) {
    case 'update':
      assertBooked(appointment, now);
      return { after: withComment(appointment, dialect, change.comment), slots: 'stay' };
    case 'cancel':
      if (state === 'cancelled') return unchanged;
      assertNotStarted(appointment);
      // Appointments that staff have entered and not booked yet can be cancelled. A hold is released instead.
      if (state !== 'pending') assertBooked(appointment, now);
      return { after: cancelled(appointment, dialect, change.comment), slots: 'free' };
    case 'confirm':
      // Staff may have booked it directly in the EHR. The slots then still have the state of the hold.
      if (state === 'booked') return { after: appointment, slots: 'finish' };
      // An expired hold can still be booked while its time is free, because the patient entered the correct code in
      // time.
      if (state === 'held' || hasExpired) return { after: booked(appointment), slots: 'book' };
      if (state === 'cancelled') throw timeTaken();
      throw notHeld();
    case 'extend':
      if (state !== 'held') throw notHeld();
      return { after: withHold(appointment, change.holdUntil), slots: { holdUntil: change.holdUntil } };
    case 'release':
      if (state === 'cancelled' && !hasExpired) return unchanged;
      // An expired hold no longer takes its time, but the EHR's staff see that only once it is written.
      if (state !== 'held' && !hasExpired) throw notHeld();
      return { after: cancelled(withHold(appointment, null), dialect, change.comment), slots: 'free' };
  }
}

/** @throws ConnectorError `appointment_started` */
export function assertNotStarted(appointment: FhirAppointment): void {
  if (!hasStarted(appointment)) return;
  throw new ConnectorError('appointment_started', 'The patient has arrived, or the visit is over');
}

function assertBooked(appointment: FhirAppointment, now: Date): void {
  const { state } = standingOf(appointment, now);
  if (state === 'cancelled') throw new ConnectorError('appointment_cancelled', 'The appointment is cancelled');
  if (state !== 'booked') throw new ConnectorError('appointment_pending', 'The appointment is not booked yet');
}

function notHeld(): ConnectorError {
  return new ConnectorError('appointment_not_held', 'The appointment is not held');
}

function cancelled(
  appointment: FhirAppointment,
  dialect: AppointmentDialect,
  comment: string | null | undefined,
): FhirAppointment {
  if (dialect.cancelReason === 'comment' || !comment) {
    return { ...withComment(appointment, dialect, comment), status: 'cancelled' };
  }
  return { ...appointment, status: 'cancelled', cancelationReason: { text: comment } };
}

function booked(appointment: FhirAppointment): FhirAppointment {
  const participant = appointment.participant?.map((it) => ({ ...it, status: 'accepted' }));
  return { ...withHold(appointment, null), status: 'booked', ...(participant ? { participant } : {}) };
}
