import type { Reason } from '../problems/reasons.ts';
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
