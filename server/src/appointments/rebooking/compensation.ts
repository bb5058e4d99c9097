import {
  type Appointment,
  type AppointmentCreation,
  type CompleteAppointment,
  isComplete,
} from '@crossward/connector-kit';
import type { Fault } from '../../problems/problem.ts';
import type { Work } from '../../writes/write-kind.ts';
import { cancelledIfGone } from '../cancelled-if-gone.ts';
import type { Results } from '../write/changes.ts';
import type { AppointmentPlan } from '../write/plan.ts';
import { reconcile } from '../write/reconcile.ts';
import { isOneStep, type Move, moveOf, movesOf } from './moves.ts';

/** The booking that compensates the cancellation of a former appointment: it gets its time back. */
function formerTime({
  patientId,
  resourceId,
  healthcareServiceId,
  start,
  end,
  comment,
}: CompleteAppointment): AppointmentCreation {
  return { kind: 'create', patientId, resourceId, healthcareServiceId, start, end, comment, holdUntil: null };
}

/**
 * How the cancellation of a former appointment is compensated: with a booking at its time, by the appointment that an earlier
 * attempt at this has booked, or not at all: another move has superseded it. `undefined`: the step is none.
 */
export async function bookedAgain(
  work: Work,
  plan: AppointmentPlan,
  index: number,
): Promise<AppointmentCreation | Appointment | 'nothing' | undefined> {
  const move = moveOf(plan, index);
  if (move?.cancellation.index !== index) return undefined;
  if (isOneStep(move.booking)) return findMovedBack(work, move);
  const { services, ehr } = work;
  const moved = await services.db
    .selectFrom('moved_appointments')
    .select('appointment_id')
    .where('emr', '=', ehr.id)
    .where('former_id', '=', move.formerId)
    .executeTakeFirst();
  if (moved) return 'nothing';
  const { before } = move.cancellation;
  // Only an appointment about which the EHR says everything is moved.
  if (!isComplete(before)) return 'nothing';
  const creation = formerTime(before);
  if (ehr.offers('findOperation')) return creation;
  return (await findBooking(work, creation)) ?? creation;
}

async function findBooking(
  work: Work,
  { holdUntil: _, ...rest }: AppointmentCreation,
): Promise<Appointment | undefined> {
  const steps = [{ change: { ...rest, hold: false } }];
  return (await reconcile(work, { steps, many: false })).get(0);
}

/**
 * Of the moves in one step that cannot be seen any more, those that an earlier attempt has compensated: the appointment, under
 * its third id.
 */
export async function movedBack(work: Work, plan: AppointmentPlan, done: Results): Promise<Results> {
  const back = new Map<number, Appointment>();
  for (const move of movesOf(plan)) {
    const { booking, cancellation, formerId } = move;
    if (!isOneStep(booking) || done.has(booking.index)) continue;
    const [former] = await work.call('findAppointments', work.careUnit, [formerId]);
    const isGone = former
      ? former.state === 'cancelled'
      : cancelledIfGone(work, cancellation.change, cancellation.before);
    const found = isGone ? await findMovedBack(work, move) : undefined;
    if (found) back.set(booking.index, found);
  }
  return back;
}

/** The appointment that an earlier compensation has moved back to its former time. */
async function findMovedBack(work: Work, { booking, cancellation }: Move): Promise<Appointment | undefined> {
  const { call, careUnit, ehr, ehrId } = work;
  const { before } = cancellation;
  if (ehr.offers('findOperation')) {
    return (await call('findOperation', careUnit, ehrId(`compensate ${booking.index}`)))?.[0];
  }
  return isComplete(before) ? findBooking(work, formerTime(before)) : undefined;
}

/** What became of a move that could not be compensated without a trace. */
export function moveOutcome(
  plan: AppointmentPlan,
  index: number,
  uncompensated: Results,
): Pick<Fault, 'id' | 'detail'> | undefined {
  const move = moveOf(plan, index);
  if (!move) return undefined;
  const { booking, cancellation, formerId, supersedesId: id } = move;
  if (isOneStep(booking)) {
    const now = uncompensated.get(index);
    if (!now) return { id, detail: 'Unchanged.' };
    return isAtSamePlace(now, cancellation.before)
      ? { id, detail: `Booked again at its former time, with the id ${now.id}.` }
      : { id, detail: `Moved, with the id ${now.id}, and could not be moved back.` };
  }
  const stays = uncompensated.get(booking.index);
  const former = uncompensated.get(cancellation.index);
  const details = [
    ...(former && former.id === formerId ? ['Cancelled, and could not be booked again.'] : []),
    ...(former && former.id !== formerId ? [`Booked again at its former time, with the id ${former.id}.`] : []),
    ...(stays ? [`Booked at the new time with the id ${stays.id}, which could not be cancelled.`] : []),
  ];
  return { id, detail: details.length > 0 ? details.join(' ') : 'Unchanged.' };
}

function isAtSamePlace(a: Appointment, b: Appointment): boolean {
  return a.start.getTime() === b.start.getTime() && a.resourceId === b.resourceId;
}
