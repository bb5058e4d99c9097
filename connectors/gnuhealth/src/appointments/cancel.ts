import type { Appointment, AppointmentCancellation } from '@crossward/connector-kit';
import { assertNotStarted, isSameTime } from '@crossward/connector-kit/rest';
import type { At } from '../ehr.ts';
import { freeRowLike, tidyFreeRows, untilUnchanged, writeTogether } from './compound.ts';
import { appointmentRow } from './record.ts';
import { type DatedRow, isTimed, rowsAt } from './rows.ts';

/** Cancels, and adds a free row at the time in the same transaction. */
export async function cancel(at: At, { appointmentId, comment }: AppointmentCancellation): Promise<Appointment> {
  const cancelled = await untilUnchanged(async () => {
    const found = await appointmentRow(at, appointmentId);
    const { row, appointment, patient } = found;
    if (appointment.state === 'cancelled') return found;
    assertNotStarted(appointment);
    const state = at.settings.cancelled_state ?? 'user_cancelled';
    const values = { state, ...(comment === undefined ? {} : { comments: comment }) };
    const freed = await freedBy(at, row);
    const outcome = await writeTogether(at.client, patient, { write: { row, values }, create: freed });
    // Undecided: if it is cancelled now, it is as requested. If not, the next attempt cancels it.
    if (outcome !== 'done') return undefined;
    return appointmentRow(at, appointmentId);
  });
  await tidyFreeRows(at.client, cancelled.patient);
  return cancelled.appointment;
}

/** The free rows to add when an appointment leaves its time: none if the time is taken, free, or over, or of no professional. */
export async function freedBy(at: At, row: DatedRow): Promise<readonly object[]> {
  if (!isTimed(row) || row.start <= at.now()) return [];
  const { taken, free } = await rowsAt(at, [row.healthprof], row);
  const isNeeded = taken.every(({ id }) => id === row.id) && !free.some((it) => isSameTime(it, row));
  return isNeeded ? [freeRowLike(row)] : [];
}
