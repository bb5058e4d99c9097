import type { FastifyRequest } from 'fastify';
import { isReplayed } from '../../api/audit-request.ts';
import type { AppointmentBody } from '../../appointments/contract.ts';
import { getAppointment } from '../../appointments/routes.ts';
import { Problem } from '../../problems/problem.ts';
import type { PlannedWrite, WriteResponse } from '../../writes/write-kind.ts';
import { conditionOf, keyOfCreate } from '../conditions.ts';
import { unprocessable } from '../from-fhir/faults.ts';
import { fhirAppointmentSchema } from '../from-fhir/schemas.ts';
import { fhirWrite } from '../interaction.ts';
import { checked, readNative } from '../native.ts';
import { planFhirBooking } from './plan.ts';
import { appointmentWrite, showWritten, written } from './show.ts';

export const appointmentCreate = fhirWrite({
  ...appointmentWrite,
  name: 'fhir_create_appointment',
  method: 'POST',
  path: '',
  status: 201,
  representation: {
    ...written,
    keyOf: keyOfCreate,
    isCondition: ({ headers }) => headers['if-none-exist'] !== undefined,
    show: async (response, request) => showWritten(await presentOf(request, response), request, response.status),
  },
  plan: planFhirCreate,
});

export async function planFhirCreate(request: FastifyRequest, body: unknown): Promise<PlannedWrite> {
  const appointment = checked(request, fhirAppointmentSchema, body);
  // An order or a proposal is never booked by accident.
  if (appointment.status !== 'booked') throw unprocessable('/status', 'A new Appointment must be booked.');
  return planFhirBooking(request, appointment);
}

/**
 * The Appointment that exists as it is now, for a create with `If-None-Exist`. While the EHR is away, as it was.
 *
 * @throws Problem `appointment_not_found` (422): the EHR no longer has it
 */
async function presentOf(request: FastifyRequest, response: WriteResponse): Promise<WriteResponse> {
  if (!isReplayed(response.headers) || !conditionOf(request, 'Appointment')) return response;
  const params = { appointment_id: (response.body as AppointmentBody).id };
  const body = await readNative(request, getAppointment, { params }).catch(asUnknownFormer).catch(ifAway);
  return body ? { ...response, body } : response;
}

/** What a body names and nobody has. */
export function asUnknownFormer(error: unknown): never {
  if (!(error instanceof Problem) || error.reason !== 'appointment_not_found') throw error;
  throw new Problem('appointment_not_found', { status: 422 });
}

function ifAway(error: unknown): undefined {
  if (error instanceof Problem && error.status >= 500) return undefined;
  throw error;
}
