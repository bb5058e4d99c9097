import type { Appointment } from '@crossward/client';
import type { Desk } from './desk.ts';
import { appointmentNotFound } from './refusal.ts';

/**
 * The appointment, if it is of the patient for whom the assistant books.
 *
 * @throws Refusal `appointment_not_found`, as if it did not exist
 */
export async function ownAppointment({ careUnit, assignment }: Desk, appointmentId: string): Promise<Appointment> {
  const appointment = await careUnit.appointments.get(appointmentId);
  // Appointments name patients by `emr_id`. The list translates the identifier without a scope to read patients.
  const { items } = await careUnit.appointments.list({ patient_id: assignment.patient, limit: 1 }).firstPage();
  if (items[0]?.patient_id !== appointment.patient_id) throw appointmentNotFound;
  return appointment;
}
