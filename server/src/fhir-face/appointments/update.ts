import type { FastifyRequest } from 'fastify';
import { Problem } from '../../problems/problem.ts';
import type { PlannedWrite } from '../../writes/write-kind.ts';
import { invalid } from '../from-fhir/faults.ts';
import { fhirAppointmentSchema } from '../from-fhir/schemas.ts';
import { fhirWrite } from '../interaction.ts';
import { checked } from '../native.ts';
import { planFhirChange, readBefore } from './plan.ts';
import { appointmentWrite, written } from './show.ts';

export const appointmentUpdate = fhirWrite({
  ...appointmentWrite,
  name: 'fhir_update_appointment',
  method: 'PUT',
  path: '/:id',
  status: 200,
  representation: written,
  plan: planFhirUpdate,
});

export async function planFhirUpdate(request: FastifyRequest, body: unknown, id: string): Promise<PlannedWrite> {
  const before = await readBefore(request, id).catch(asUnknownUpdate);
  const appointment = checked(request, fhirAppointmentSchema, body);
  if (appointment.id !== id) throw invalid('/id', 'The id must be the one in the path.');
  return planFhirChange(request, before, appointment, { isWhole: true, isPatch: false });
}

/** https://hl7.org/fhir/R4/http.html#upsert: clients choose no ids. */
export function asUnknownUpdate(error: unknown): never {
  if (!(error instanceof Problem) || error.reason !== 'appointment_not_found') throw error;
  const detail = 'No Appointment has this id, and clients cannot choose ids. Create one with POST.';
  throw new Problem('method_not_allowed', { detail, headers: { allow: 'GET, HEAD' } });
}
