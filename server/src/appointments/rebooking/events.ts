import type { NewEvent } from '../../events/new-event.ts';
import type { Work } from '../../writes/write-kind.ts';
import { appointmentEvent } from '../events.ts';
import type { Results } from '../write/changes.ts';
import type { AppointmentPlan } from '../write/plan.ts';
import { type Move, movesOf, successorOf } from './moves.ts';

/** The events of the moves of a plan that was performed, or of the steps of them that the EHR has performed. */
export function eventsOfMoves(work: Work, plan: AppointmentPlan, results: Results): NewEvent[] {
  return movesOf(plan).flatMap((move) => moveEvents(work, move, results));
}

/** Consumers that know only ids hear that the former appointment has ended, and that the new one is booked. */
function moveEvents(work: Work, move: Move, results: Results): NewEvent[] {
  const { booking, cancellation, formerId, supersedesId } = move;
  const next = successorOf(move, results);
  const both = [results.get(booking.index), results.get(cancellation.index)];
  const booked = [...new Set(both)].flatMap((it) => (it && it.id !== formerId ? [it] : []));
  const isCancelled = both[1] !== undefined;
  const superseded_by_id = next?.id;
  return [
    ...booked.map((appointment) =>
      appointmentEvent(
        work,
        { ...appointment, state: 'booked' },
        { type: 'appointment.booked', id: appointment.id },
        isCancelled && appointment === next ? { supersedes_id: supersedesId } : {},
      ),
    ),
    ...(isCancelled
      ? [
          appointmentEvent(
            work,
            { ...cancellation.before, state: 'cancelled' },
            { type: 'appointment.cancelled', id: supersedesId },
            superseded_by_id === undefined ? {} : { superseded_by_id },
          ),
        ]
      : []),
  ];
}
