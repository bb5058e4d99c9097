import type { FastifyRequest } from 'fastify';
import { isReplayed } from '../../api/audit-request.ts';
import type { AppointmentBody } from '../../appointments/contract.ts';
import { getAppointment } from '../../appointments/routes.ts';
import { Problem } from '../../problems/problem.ts';
import { AlreadyMade } from '../../problems/write-errors.ts';
import type { PlannedWrite, WriteResponse } from '../../writes/write-kind.ts';
import { conditionFault, conditionOf, keyOfCreate } from '../conditions.ts';
import { unprocessable } from '../from-fhir/faults.ts';
import { fhirAppointmentSchema } from '../from-fhir/schemas.ts';
import { fhirWrite } from '../interaction.ts';
import { checked, readNative } from '../native.ts';
import { idsNamed } from './identifiers.ts';
import { planFhirBooking, readingIn } from './plan.ts';
import { ifUnknown } from './read.ts';
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
  async plan(request, body) {
    await assertNoneExists(request);
    return planFhirCreate(request, body);
  },
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
  if (request.isPresent || !isReplayed(response.headers) || !conditionOf(request, 'Appointment')) return response;
  const params = { appointment_id: (response.body as AppointmentBody).id };
  const body = await readNative(request, getAppointment, { params }).catch(asUnknownFormer).catch(ifAway);
  return body ? { ...response, body } : response;
}

/**
 * A create with `If-None-Exist` makes nothing if the client has an Appointment with the identifier.
 *
 * @throws AlreadyMade with the Appointment as it is now
 * @throws Problem `request_invalid` (412) if there are several
 */
async function assertNoneExists(request: FastifyRequest): Promise<void> {
  const condition = conditionOf(request, 'Appointment');
  let body: AppointmentBody | undefined;
  for (const id of condition ? await idsNamed(request, [condition]) : []) {
    // Some may be known to nobody any more.
    const found = await readNative(request, getAppointment, { params: { appointment_id: id } }).catch(ifUnknown);
    if (found && body) throw conditionFault('Several Appointments have the identifier.', 'multiple-matches', 412);
    body ??= found;
  }
  if (!body) return;
  // For the response.
  await readingIn(request).catch(() => undefined);
  request.isPresent = true;
  throw new AlreadyMade('Already made', { cause: body });
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
