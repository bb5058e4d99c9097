import {
  type Appointment,
  type AppointmentCreation,
  type CompleteAppointment,
  isComplete,
} from '@crossward/connector-kit';
import type { Fault } from '../../problems/problem.ts';
import type { Work } from '../../writes/write-kind.ts';
import type { Results } from '../write/changes.ts';
import type { AppointmentPlan } from '../write/plan.ts';
import { reconcile } from '../write/reconcile.ts';
import { moveOf } from './moves.ts';

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
  const { holdUntil: _, ...rest } = creation;
  const steps = [{ change: { ...rest, hold: false } }];
  return (await reconcile(work, { steps, many: false })).get(0) ?? creation;
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
  const stays = uncompensated.get(booking.index);
  const former = uncompensated.get(cancellation.index);
  const details = [
    ...(former && former.id === formerId ? ['Cancelled, and could not be booked again.'] : []),
    ...(former && former.id !== formerId ? [`Booked again at its former time, with the id ${former.id}.`] : []),
    ...(stays ? [`Booked at the new time with the id ${stays.id}, which could not be cancelled.`] : []),
  ];
  return { id, detail: details.length > 0 ? details.join(' ') : 'Unchanged.' };
}
