import type { Appointment } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { AppointmentBody } from '../../appointments/contract.ts';
import { getAppointment } from '../../appointments/routes.ts';
import { Problem } from '../../problems/problem.ts';
import { appointmentNamesIn } from '../directory.ts';
import { shownInFhir, unknownResource } from '../face.ts';
import { fromFhirId } from '../ids.ts';
import { fhirRead } from '../interaction.ts';
import { readNative } from '../native.ts';
import { isCancellation, toAppointment } from '../to-fhir/appointment.ts';
import { dataOf, readIdentifiers } from './identifiers.ts';

export const appointmentRead = fhirRead(
  'Appointment',
  { name: 'fhir_read_appointment', scopes: ['appointments:read'], audit: shownInFhir },
  read,
);

async function read(request: FastifyRequest, id: string): Promise<Appointment> {
  const [body, named] = await Promise.all([nativeAppointment(request, id), appointmentNamesIn(request)]);
  await readIdentifiers(dataOf(request), named, [body]);
  const appointment = toAppointment(body, named);
  if (!appointment) throw unknownResource('appointment_not_found');
  return appointment;
}

/**
 * The native appointment of an Appointment. The id of a two-step cancellation names none.
 *
 * @throws Problem `appointment_not_found`
 */
export async function nativeAppointment(request: FastifyRequest, id: string): Promise<AppointmentBody> {
  const appointment_id = fromFhirId(id);
  if (appointment_id === undefined) throw unknownResource('appointment_not_found');
  const body = await readNative(request, getAppointment, { params: { appointment_id } });
  if (isCancellation(body)) throw unknownResource('appointment_not_found');
  return body;
}

/** What a client names and nobody has. */
export function ifUnknown(error: unknown): undefined {
  if (error instanceof Problem && error.reason === 'appointment_not_found') return undefined;
  throw error;
}
