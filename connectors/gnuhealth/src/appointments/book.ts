import { type Appointment, type AppointmentCreation, ConnectorError } from '@crossward/connector-kit';
import { isSameTime, requireResource, requireService, timeTaken } from '@crossward/connector-kit/rest';
import type { At } from '../ehr.ts';
import { requirePatient } from '../patients.ts';
import { recordId, toRpc } from '../rpc/values.ts';
import { freeRowLike, tidyFreeRows, untilUnchanged, writeRows, writeTogether } from './compound.ts';
import { careUnitNames, toAppointment } from './record.ts';
import { rowsAt, type TimedRow } from './rows.ts';

/** Books the free row at the time, on the condition that it is as it was read. Of concurrent bookings, one succeeds. */
export async function book(at: At, creation: AppointmentCreation): Promise<Appointment> {
  const patient = await checkedPatient(at, creation);
  return untilUnchanged(async () => {
    const free = await freeRowAt(at, creation);
    const outcome = await take(at, free, patient, creation);
    if (outcome === 'refused') return undefined;
    const { taken: booked } = await rowsAt(at, [free.healthprof], free);
    const mine = booked.find(
      (row) => row.patient === patient && row.state === 'confirmed' && isSameTime(row, creation),
    );
    if (outcome === 'undecided') {
      if (!mine) return undefined;
      // It is as requested, but another call may have booked it for this patient.
      throw new ConnectorError('outcome_unknown', 'A booking got no response, and the time is booked for the patient');
    }
    const appointment = mine && toAppointment(at, await careUnitNames(at, [mine]), mine);
    if (!mine || !appointment) throw new ConnectorError('outcome_unknown', 'A booking was changed at once');
    if (booked.some((row) => row !== mine)) await giveBack(at, mine, patient);
    return appointment;
  });
}

async function checkedPatient(
  at: At,
  { patientId, resourceId, healthcareServiceId }: AppointmentCreation,
): Promise<number> {
  const [{ patient, isInactive }] = await Promise.all([
    requirePatient(at.client, patientId),
    requireResource(at.lists, resourceId),
    requireService(at.lists, healthcareServiceId),
  ]);
  if (isInactive) throw new ConnectorError('patient_inactive', 'The record of the patient is out of use');
  return patient;
}

/**
 * The row becomes the appointment and keeps its id. One that was an appointment before is replaced: somebody may still know
 * its id as that of another patient's appointment.
 */
function take(at: At, free: TimedRow, patient: number, { end, comment }: AppointmentCreation) {
  const values = { state: 'confirmed', comments: comment, appointment_date_end: toRpc(end) };
  if (free.name === null) return writeRows(at.client, [free], { ...values, patient });
  return writeTogether(at.client, patient, { remove: [free], create: [{ ...freeRowLike(free), ...values }] });
}

/**
 * Tryton does not compare records: somebody has confirmed an overlapping one between the look at the time and the booking.
 * Both calls look again after they have written, so at least one of them finds out.
 *
 * @throws ConnectorError always
 */
async function giveBack(at: At, row: TimedRow, patient: number): Promise<never> {
  const outcome = await writeTogether(at.client, patient, { remove: [row], create: [{ ...freeRowLike(row) }] });
  if (outcome !== 'done') throw new ConnectorError('outcome_unknown', 'A booking that overlaps another was changed');
  await tidyFreeRows(at.client, patient);
  throw timeTaken({ nothingChanged: true });
}

export interface Target {
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
}

/**
 * The free row at this time. Of several, the one with the lowest id, so that all callers want the same.
 *
 * @param ownId the appointment that moves: its own time counts as free
 * @throws ConnectorError `time_slot_unavailable`
 */
export async function freeRowAt(at: At, target: Target, ownId?: number): Promise<TimedRow> {
  const { start, end } = target;
  const professional = recordId(target.resourceId);
  const speciality = recordId(target.healthcareServiceId);
  if (professional === undefined || speciality === undefined || start >= end || start <= at.now()) throw timeTaken();
  const { institution } = at.unit;
  const rows = await rowsAt(at, [professional], { start, end });
  if (rows.taken.some(({ id }) => id !== ownId)) throw timeTaken();
  const row = rows.free.find(
    (it) => it.institution === institution && it.speciality === speciality && isSameTime(it, { start, end }),
  );
  if (!row) throw timeTaken();
  return row;
}
