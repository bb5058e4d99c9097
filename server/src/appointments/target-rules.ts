import type { Reason } from '../problems/reasons.ts';
import type { Target } from './targets.ts';

/** What may be done with a target, by what it is and the state it is in. */
export type Standing =
  | 'booked'
  /** Waits for a code of ours that books it. */
  | 'awaiting booking'
  /** A view of an original that waits for the code that cancels it. */
  | 'awaiting cancellation'
  /** A view of an original whose code has run out: the original is booked. */
  | 'view of booked'
  /** Waits for something that only the EHR knows. */
  | 'pending in the EHR'
  | 'cancelled';

export function standingOf({ kind, appointment, item }: Target): Standing {
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
      return item.isPending ? 'awaiting booking' : 'cancelled';
    case 'pending':
      return 'pending in the EHR';
  }
}

/** Why a target in this standing cannot be updated. */
export const updateRefusals: Record<Standing, Reason | undefined> = {
  booked: undefined,
  'awaiting booking': 'appointment_awaiting_confirmation',
  'awaiting cancellation': 'appointment_awaiting_confirmation',
  'view of booked': 'appointment_awaiting_confirmation',
  'pending in the EHR': 'appointment_awaiting_confirmation',
  cancelled: 'appointment_cancelled',
};
