import { isDeepStrictEqual } from 'node:util';
import type { Bundle, Resource } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { Shown } from '../../api/endpoint.ts';
import type { PlannedWrite } from '../../writes/write-kind.ts';
import { accessOf, baseOf, unitBase } from '../face.ts';
import { invalid, unprocessable } from '../from-fhir/faults.ts';
import {
  fhirAppointmentSchema,
  namedPatientSchema,
  type SentAppointment,
  type SentParameter,
  type SentReference,
} from '../from-fhir/schemas.ts';
import { readReference, readSlotId } from '../ids.ts';
import { checked } from '../native.ts';
import { asUnknownFormer } from './create.ts';
import { parametersIn, valueIn } from './parameters.ts';
import { planFhirBooking, planFhirChange, readBefore } from './plan.ts';

const own = ['appointment-reference', 'appointment-resource', 'patient-resource'];
export const iheParameters = [...own, 'comment', 'dry-run'];

/** Whether `$book` is called as IHE ITI Scheduling defines it. */
export function isIhe(body: unknown): boolean {
  return parametersIn(body).some(({ name }) => name !== undefined && own.includes(name));
}

/** https://profiles.ihe.net/ITI/Scheduling/OperationDefinition-appointment-book.html: books, changes or cancels. */
export async function planIheBook(
  request: FastifyRequest,
  parameters: readonly SentParameter[],
): Promise<PlannedWrite> {
  // There, the id of a patient-resource could be that of another person in another care unit.
  if (baseOf(request) !== unitBase(request, accessOf(request))) {
    throw unprocessable('/parameter', 'These parameters are for the base URL of a care unit.', 'not-supported');
  }
  const appointment = withPatient(request, sentIn(request, parameters), parameters);
  if (appointment.status === 'pending') return planFhirBooking(request, appointment);
  if (appointment.status !== 'booked' && appointment.status !== 'cancelled') {
    throw unprocessable('/status', 'An Appointment is pending to be booked, booked to be changed, or cancelled.');
  }
  if (appointment.id === undefined) throw invalid('/id', 'The id of the Appointment is missing.', 'required');
  const before = await readBefore(request, appointment.id).catch(asUnknownFormer);
  return planFhirChange(request, before, appointment, { isWhole: true, isPatch: false });
}

function sentIn(request: FastifyRequest, parameters: readonly SentParameter[]): SentAppointment {
  const resource = parameters.find(({ name }) => name === 'appointment-resource')?.resource;
  const reference = valueIn(parameters, 'appointment-reference');
  if ((resource === undefined) === (reference === undefined)) {
    throw invalid('/parameter', 'Send either appointment-reference or appointment-resource.', 'required');
  }
  const comment = valueIn(parameters, 'comment');
  const commented = comment === undefined ? {} : { comment };
  if (reference !== undefined) return { ...proposed(request, reference), ...commented };
  const { requestedPeriod, ...sent }: SentAppointment & { readonly requestedPeriod?: unknown } = checked(
    request,
    fhirAppointmentSchema,
    resource,
  );
  // Its profile of Appointment requires it beside the time.
  const period = sent.start === undefined && requestedPeriod !== undefined ? { requestedPeriod } : {};
  return { ...sent, ...period, ...commented };
}

/** What `$find` has proposed has the id of its Slot. */
function proposed(request: FastifyRequest, text: string): SentAppointment {
  const { type, id } = readReference(text, baseOf(request)) ?? {};
  if (type !== 'Appointment' || id === undefined || !readSlotId(id)) {
    const detail = 'appointment-reference must be a reference to an Appointment that $find has proposed here.';
    throw unprocessable('/parameter', detail);
  }
  return { resourceType: 'Appointment', status: 'pending', slot: [{ reference: `Slot/${id}` }], participant: [] };
}

/** The patient is a participant, or is named by `patient-resource`: nothing else of it is kept. */
function withPatient(
  request: FastifyRequest,
  appointment: SentAppointment,
  parameters: readonly SentParameter[],
): SentAppointment {
  const [sent, ...others] = parameters.filter(({ name }) => name === 'patient-resource');
  if (others.length > 0) throw unprocessable('/parameter', 'An Appointment has one patient.', 'not-supported');
  const local = (text: string | undefined) => (text === undefined ? undefined : readReference(text, baseOf(request)));
  const patients = appointment.participant.flatMap(({ actor }) =>
    actor && (actor.type === 'Patient' || local(actor.reference)?.type === 'Patient') ? [actor] : [],
  );
  const named = sent && patientIn(request, sent);
  if (!named && patients.length === 0) {
    throw invalid('/parameter', 'patient-resource is missing, or a participant who is a Patient.', 'required');
  }
  if (!named) return appointment;
  const isSame = ({ reference, identifier }: SentReference) =>
    reference === undefined
      ? isDeepStrictEqual([identifier?.system, identifier?.value], [named.identifier?.system, named.identifier?.value])
      : local(reference)?.id === named.id;
  if (!patients.every(isSame)) {
    throw unprocessable('/parameter', 'patient-resource is another patient than the one of the Appointment.');
  }
  if (patients.length > 0) return appointment;
  const actor =
    named.id === undefined
      ? { type: 'Patient', ...(named.identifier && { identifier: named.identifier }) }
      : { reference: `Patient/${named.id}` };
  return { ...appointment, participant: [{ actor, status: 'accepted' }, ...appointment.participant] };
}

function patientIn(request: FastifyRequest, { resource }: SentParameter) {
  const { id, identifier: all } = checked(request, namedPatientSchema, resource);
  const identifier = all?.find(({ system, value }) => system !== undefined && value !== undefined);
  if (id !== undefined || identifier) return { id, identifier };
  throw invalid('/parameter', 'patient-resource needs an id, or an identifier with system and value.', 'required');
}

/** The Bundle with which IHE answers. A refusal is an OperationOutcome, as of every operation. */
export function inBundle({ status, headers, ...shown }: Shown, request: FastifyRequest): Shown {
  const resource = (shown as { readonly body?: Resource }).body;
  const { location: _, ...others } = headers ?? {};
  const isMatch = resource?.resourceType === 'Appointment';
  const fullUrl =
    isMatch && resource.id !== undefined ? { fullUrl: `${baseOf(request)}/Appointment/${resource.id}` } : {};
  const bundle: Bundle = {
    resourceType: 'Bundle',
    type: 'searchset',
    total: isMatch ? 1 : 0,
    ...(resource && { entry: [{ ...fullUrl, resource, search: { mode: isMatch ? 'match' : 'outcome' } }] }),
  };
  return { status: status === 202 ? 202 : 200, headers: others, body: bundle };
}
