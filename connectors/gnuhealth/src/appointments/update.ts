import { type Appointment, type AppointmentUpdate, assertComplete, ConnectorError } from '@crossward/connector-kit';
import {
  assertChangeable,
  assertNotStarted,
  isSameTime,
  requireResource,
  timeTaken,
} from '@crossward/connector-kit/rest';
import type { At } from '../ehr.ts';
import { toRpc } from '../rpc/values.ts';
import { freeRowAt } from './book.ts';
import { freedBy } from './cancel.ts';
import { freeRowLike, tidyFreeRows, untilUnchanged, writeRows, writeTogether } from './compound.ts';
import { appointmentRow } from './record.ts';
import { type DatedRow, isTimed, rowsAt, type TimedRow } from './rows.ts';

/** Changes the comment, or moves the appointment: it keeps its id. */
export async function update(at: At, change: AppointmentUpdate): Promise<Appointment> {
  let mayBeDone = false;
  const updated = await untilUnchanged(async () => {
    const found = await appointmentRow(at, change.appointmentId);
    const { row, appointment, patient } = found;
    assertChangeable(appointment, false);
    const wished = { ...appointment, ...change.time, resourceId: change.resourceId ?? appointment.resourceId };
    const values = change.comment === undefined ? {} : { comments: change.comment };
    const stays = isSameTime(wished, appointment) && wished.resourceId === appointment.resourceId;
    if (stays) {
      const isAsWanted = change.comment === undefined || (change.comment || null) === appointment.comment;
      if (isAsWanted && (mayBeDone || change.comment === undefined)) return found;
      const outcome = await writeRows(at.client, [row], values);
      mayBeDone ||= outcome === 'undecided';
      if (outcome !== 'done') return undefined;
    } else {
      assertNotStarted(appointment);
      const former = movable(row, appointment);
      const target = assertComplete(wished);
      await requireResource(at.lists, target.resourceId);
      const free = await freeRowAt(at, target, row.id);
      const outcome = await move(at, patient, former, free, values, await freedBy(at, former));
      mayBeDone ||= outcome === 'undecided';
      if (outcome !== 'done') return undefined;
      await expectAlone(at, change.appointmentId, former);
    }
    return appointmentRow(at, change.appointmentId);
  });
  await tidyFreeRows(at.client, updated.patient);
  return updated.appointment;
}

/** @throws ConnectorError `change_not_allowed` if staff have entered no professional or no speciality */
function movable(row: DatedRow, appointment: Appointment): TimedRow {
  assertComplete(appointment);
  if (isTimed(row)) return row;
  throw new ConnectorError('change_not_allowed', 'The appointment has no health professional');
}

/** The appointment takes the time of the free row, which is removed, and leaves free rows at its former time. */
function move(at: At, patient: number, row: TimedRow, free: TimedRow, values: object, create: readonly object[]) {
  const time = {
    appointment_date: toRpc(free.start),
    appointment_date_end: toRpc(free.end),
    // Named only if it changes: the calendar module makes a new event for the professional.
    ...(free.healthprof === row.healthprof ? {} : { healthprof: free.healthprof }),
  };
  const write = { row, values: { ...values, ...time } };
  return writeTogether(at.client, patient, { write, remove: [free], create });
}

/**
 * As after a booking: somebody may have confirmed an overlapping appointment in between. Then the appointment goes back.
 *
 * @throws ConnectorError `time_slot_unavailable`
 */
async function expectAlone(at: At, id: string, former: TimedRow): Promise<void> {
  const { row: found, appointment, patient } = await appointmentRow(at, id);
  const row = movable(found, appointment);
  const there = await rowsAt(at, [row.healthprof], row);
  if (there.taken.every((it) => it.id === row.id)) return;
  const { start, end, healthprof } = former;
  const back = { ...assertComplete(appointment), resourceId: String(healthprof), start, end };
  const own = await freeRowAt(at, back, row.id);
  const outcome = await move(at, patient, row, own, {}, [freeRowLike(row)]);
  if (outcome !== 'done') throw new ConnectorError('outcome_unknown', 'An appointment that moved was changed');
  await tidyFreeRows(at.client, patient);
  throw timeTaken({ nothingChanged: true });
}
