import type { Appointment, AppointmentCancellation, CareUnit } from '@crossward/connector-kit';
import { assertNotStarted, isSameTime } from '@crossward/connector-kit/rest';
import type { Ehr } from '../ehr.ts';
import { untilUnchanged } from './attempts.ts';
import { freeRowLike, tidyFreeRows, writeTogether } from './compound.ts';
import { appointmentRow } from './own-row.ts';
import { type DatedRow, isTimed } from './record.ts';
import { rowsAt } from './times.ts';

/** Cancels, and adds a free row at the time in the same transaction. */
export async function cancel(
  ehr: Ehr,
  careUnit: CareUnit,
  { appointmentId, comment }: AppointmentCancellation,
): Promise<Appointment> {
  const cancelled = await untilUnchanged(async () => {
    const found = await appointmentRow(ehr, careUnit, appointmentId);
    const { row, appointment, patient } = found;
    if (appointment.state === 'cancelled') return found;
    assertNotStarted(appointment);
    const state = ehr.settings.cancelled_state ?? 'user_cancelled';
    const values = { state, ...(comment === undefined ? {} : { comments: comment }) };
    const freed = await freedBy(ehr, row);
    const outcome = await writeTogether(ehr.rpc, patient, { write: { row, values }, create: freed });
    // Undecided: if it is cancelled now, it is as requested. If not, the next attempt cancels it.
    if (outcome !== 'done') return undefined;
    return appointmentRow(ehr, careUnit, appointmentId);
  });
  await tidyFreeRows(ehr.rpc, cancelled.patient);
  return cancelled.appointment;
}

/** The free rows to add when an appointment leaves its time: none if the time is taken, free, or over, or of no professional. */
export async function freedBy(ehr: Ehr, row: DatedRow): Promise<readonly object[]> {
  if (!isTimed(row) || row.start <= ehr.now()) return [];
  const { taken, free } = await rowsAt(ehr.rpc, ehr.settings, [row.healthprof], row);
  const isNeeded = taken.every(({ id }) => id === row.id) && !free.some((it) => isSameTime(it, row));
  return isNeeded ? [freeRowLike(row)] : [];
}
