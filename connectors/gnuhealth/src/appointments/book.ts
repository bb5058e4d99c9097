import { type Appointment, type AppointmentCreation, type CareUnit, ConnectorError } from '@crossward/connector-kit';
import { isSameTime, requireResource, requireService, timeTaken } from '@crossward/connector-kit/rest';
import type { Ehr } from '../ehr.ts';
import { requirePatient } from '../patients.ts';
import { toRpc } from '../rpc/values.ts';
import { untilUnchanged } from './attempts.ts';
import { careUnitNames } from './care-unit-names.ts';
import { freeRowLike, tidyFreeRows, writeRows, writeTogether } from './compound.ts';
import { type TimedRow, toAppointment } from './record.ts';
import { freeRowAt } from './target.ts';
import { rowsAt } from './times.ts';

/** Books the free row at the time, on the condition that it is as it was read. Of concurrent bookings, one succeeds. */
export async function book(ehr: Ehr, careUnit: CareUnit, creation: AppointmentCreation): Promise<Appointment> {
  const patient = await checkedPatient(ehr, careUnit, creation);
  return untilUnchanged(async () => {
    const free = await freeRowAt(ehr, careUnit, creation);
    const outcome = await take(ehr, free, patient, creation);
    if (outcome === 'refused') return undefined;
    const booked = await rowsOf(ehr, free);
    const mine = booked.find(
      (row) => row.patient === patient && row.state === 'confirmed' && isSameTime(row, creation),
    );
    if (outcome === 'undecided') {
      if (!mine) return undefined;
      // It is as requested, but another call may have booked it for this patient.
      throw new ConnectorError('outcome_unknown', 'A booking got no response, and the time is booked for the patient');
    }
    const appointment = mine && toAppointment(mine, await careUnitNames(ehr, careUnit, [mine]), ehr.settings);
    if (!mine || !appointment) throw new ConnectorError('outcome_unknown', 'A booking was changed at once');
    if (booked.some((row) => row !== mine)) await giveBack(ehr, mine, patient);
    return appointment;
  });
}

async function checkedPatient(
  ehr: Ehr,
  careUnit: CareUnit,
  { patientId, resourceId, healthcareServiceId }: AppointmentCreation,
): Promise<number> {
  const [{ patient, isInactive }] = await Promise.all([
    requirePatient(ehr.rpc, patientId),
    requireResource(ehr.directory, careUnit, resourceId),
    requireService(ehr.directory, careUnit, healthcareServiceId),
  ]);
  if (isInactive) throw new ConnectorError('patient_inactive', 'The record of the patient is out of use');
  return patient;
}

/**
 * The row becomes the appointment and keeps its id. One that was an appointment before is replaced: somebody may still know
 * its id as that of another patient's appointment.
 */
function take(ehr: Ehr, free: TimedRow, patient: number, { end, comment }: AppointmentCreation) {
  const values = { state: 'confirmed', comments: comment, appointment_date_end: toRpc(end) };
  if (free.name === null) return writeRows(ehr.rpc, [free], { ...values, patient });
  return writeTogether(ehr.rpc, patient, { remove: [free], create: [{ ...freeRowLike(free), ...values }] });
}

/** The appointments at the time of this row. */
async function rowsOf({ rpc, settings }: Ehr, row: TimedRow): Promise<readonly TimedRow[]> {
  return (await rowsAt(rpc, settings, [row.healthprof], row)).taken;
}

/**
 * Tryton does not compare records: somebody has confirmed an overlapping one between the look at the time and the booking.
 * Both calls look again after they have written, so at least one of them finds out.
 *
 * @throws ConnectorError always
 */
async function giveBack(ehr: Ehr, row: TimedRow, patient: number): Promise<never> {
  const outcome = await writeTogether(ehr.rpc, patient, { remove: [row], create: [{ ...freeRowLike(row) }] });
  if (outcome !== 'done') throw new ConnectorError('outcome_unknown', 'A booking that overlaps another was changed');
  await tidyFreeRows(ehr.rpc, patient);
  throw timeTaken({ nothingChanged: true });
}
