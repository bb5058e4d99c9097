import { type CompleteAppointment, isComplete } from '@crossward/connector-kit';
import { Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import type { KnownAppointment } from './known-appointments.ts';
import { isBookedSince } from './representation.ts';
import type { Target } from './targets.ts';

/** The state of a target. It decides which changes are allowed. */
export type TargetState =
  | 'booked'
  /** Awaits the gateway's code that books it. */
  | 'awaiting booking'
  /** A two-step cancellation that awaits its code. */
  | 'awaiting cancellation'
  /** A two-step cancellation with an expired code. The original is booked. */
  | 'view of booked'
  /** Pending in the EHR for a reason that the gateway does not know. */
  | 'pending in the EHR'
  | 'cancelled';

export function targetState({ kind, appointment, item }: Target): TargetState {
  if (kind === 'cancellation') {
    if (appointment.state === 'cancelled') return 'cancelled';
    return item.isPending ? 'awaiting cancellation' : 'view of booked';
  }
  switch (appointment.state) {
    case 'booked':
    case 'cancelled':
      return appointment.state;
    case 'held':
      if (!item) return 'pending in the EHR';
      if (isBookedSince(appointment, item)) return 'booked';
      return item.isPending ? 'awaiting booking' : 'cancelled';
    case 'pending':
      return 'pending in the EHR';
  }
}

/** Why a target in this state cannot be updated. */
export const updateReasons: Record<TargetState, Reason | undefined> = {
  booked: undefined,
  'awaiting booking': 'appointment_awaiting_confirmation',
  'awaiting cancellation': 'appointment_awaiting_confirmation',
  'view of booked': 'appointment_awaiting_confirmation',
  'pending in the EHR': 'appointment_awaiting_confirmation',
  cancelled: 'appointment_cancelled',
};

/** What to tell about an appointment that cannot be moved, because the EHR does not say enough. `undefined`: it says enough. */
export function whyUnmovable(appointment: KnownAppointment): string | undefined {
  if (isComplete(appointment)) return undefined;
  const { resourceId, healthcareServiceId } = appointment;
  if (resourceId === null) return 'The EHR does not name the resource of this appointment, so it cannot be moved.';
  if (healthcareServiceId === null) return 'The EHR does not name its healthcare service, so it cannot be moved.';
  return 'The EHR does not say when this appointment ends, so it can only be moved with `start` and `end`.';
}

/** @throws Problem `change_not_allowed` if the EHR does not say enough about the appointment to move it */
export function assertMovable<Some extends KnownAppointment>(appointment: Some): Some & CompleteAppointment {
  if (isComplete(appointment)) return appointment;
  throw new Problem('change_not_allowed', { detail: whyUnmovable(appointment) });
}
