import { type Appointment, isProblem } from '@crossward/client';
import type { Desk } from './desk.ts';
import { appointmentNotFound } from './refusal.ts';

/**
 * The appointment, if it is of the patient for whom the assistant books.
 *
 * @throws Refusal `appointment_not_found`, as if it did not exist
 */
export async function ownAppointment(desk: Desk, appointmentId: string): Promise<Appointment> {
  const appointment = await find(desk, appointmentId);
  // Appointments name patients by `emr_id`. The list translates the identifier without a scope to read patients.
  const { items } = await desk
    .at(appointment.care_unit_id)
    .appointments.list({ patient_id: desk.assignment.patient, limit: 1 })
    .firstPage();
  if (items[0]?.patient_id !== appointment.patient_id) throw appointmentNotFound;
  return appointment;
}

/** Looks in every care unit. @throws an error of the client */
async function find(desk: Desk, appointmentId: string): Promise<Appointment> {
  const unitIds = await desk.careUnitIds();
  const results = await Promise.allSettled(unitIds.map((id) => desk.at(id).appointments.get(appointmentId)));
  const found = results.find((result) => result.status === 'fulfilled');
  if (found) return found.value;
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  // One care unit that does not answer may have it.
  throw errors.find((error) => !isProblem(error, 'appointment_not_found')) ?? appointmentNotFound;
}
