import {
  type Appointment,
  type AppointmentUpdate,
  assertComplete,
  type CareUnit,
  ConnectorError,
} from '@crossward/connector-kit';
import {
  assertChangeable,
  assertNotStarted,
  isSameTime,
  requireResource,
  timeTaken,
} from '@crossward/connector-kit/rest';
import type { Ehr } from '../ehr.ts';
import { toRpc } from '../rpc/values.ts';
import { untilUnchanged } from './attempts.ts';
import { freedBy } from './cancel.ts';
import { freeRowLike, tidyFreeRows, writeRows, writeTogether } from './compound.ts';
import { appointmentRow } from './own-row.ts';
import { type DatedRow, isTimed, type TimedRow } from './record.ts';
import { freeRowAt } from './target.ts';
import { rowsAt } from './times.ts';

/** Changes the comment, or moves the appointment: it keeps its id. */
export async function update(ehr: Ehr, careUnit: CareUnit, change: AppointmentUpdate): Promise<Appointment> {
  let mayBeDone = false;
  const updated = await untilUnchanged(async () => {
    const found = await appointmentRow(ehr, careUnit, change.appointmentId);
    const { row, appointment, patient } = found;
    assertChangeable(appointment, false);
    const wished = { ...appointment, ...change.time, resourceId: change.resourceId ?? appointment.resourceId };
    const values = change.comment === undefined ? {} : { comments: change.comment };
    const stays = isSameTime(wished, appointment) && wished.resourceId === appointment.resourceId;
    if (stays) {
      const isAsWanted = change.comment === undefined || (change.comment || null) === appointment.comment;
      if (isAsWanted && (mayBeDone || change.comment === undefined)) return found;
      const outcome = await writeRows(ehr.rpc, [row], values);
      mayBeDone ||= outcome === 'undecided';
      if (outcome !== 'done') return undefined;
    } else {
      assertNotStarted(appointment);
      const former = movable(row, appointment);
      const target = assertComplete(wished);
      await requireResource(ehr.directory, careUnit, target.resourceId);
      const free = await freeRowAt(ehr, careUnit, target, row.id);
      const outcome = await move(ehr, patient, former, free, values, await freedBy(ehr, former));
      mayBeDone ||= outcome === 'undecided';
      if (outcome !== 'done') return undefined;
      await expectAlone(ehr, careUnit, change.appointmentId, former);
    }
    return appointmentRow(ehr, careUnit, change.appointmentId);
  });
  await tidyFreeRows(ehr.rpc, updated.patient);
  return updated.appointment;
}

/** @throws ConnectorError `change_not_allowed` if staff have entered no professional or no speciality */
function movable(row: DatedRow, appointment: Appointment): TimedRow {
  assertComplete(appointment);
  if (isTimed(row)) return row;
  throw new ConnectorError('change_not_allowed', 'The appointment has no health professional');
}

/** The appointment takes the time of the free row, which is removed, and leaves free rows at its former time. */
function move(ehr: Ehr, patient: number, row: TimedRow, free: TimedRow, values: object, create: readonly object[]) {
  const time = {
    appointment_date: toRpc(free.start),
    appointment_date_end: toRpc(free.end),
    // Named only if it changes: the calendar module makes a new event for the professional.
    ...(free.healthprof === row.healthprof ? {} : { healthprof: free.healthprof }),
  };
  return writeTogether(ehr.rpc, patient, {
    write: { row, values: { ...values, ...time } },
    remove: [free],
    create,
  });
}

/**
 * As after a booking: somebody may have confirmed an overlapping appointment in between. Then the appointment goes back.
 *
 * @throws ConnectorError `time_slot_unavailable`
 */
async function expectAlone(ehr: Ehr, careUnit: CareUnit, id: string, former: TimedRow): Promise<void> {
  const { row: found, appointment, patient } = await appointmentRow(ehr, careUnit, id);
  const row = movable(found, appointment);
  const there = await rowsAt(ehr.rpc, ehr.settings, [row.healthprof], row);
  if (there.taken.every((it) => it.id === row.id)) return;
  const { start, end, healthprof } = former;
  const back = { ...assertComplete(appointment), resourceId: String(healthprof), start, end };
  const own = await freeRowAt(ehr, careUnit, back, row.id);
  const outcome = await move(ehr, patient, row, own, {}, [freeRowLike(row)]);
  if (outcome !== 'done') throw new ConnectorError('outcome_unknown', 'An appointment that moved was changed');
  await tidyFreeRows(ehr.rpc, patient);
  throw timeTaken({ nothingChanged: true });
}
