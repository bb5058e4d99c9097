import { isDeepStrictEqual } from 'node:util';
import type { Appointment, Identifier } from '@medplum/fhirtypes';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { oneRecord } from '../api/audit-request.ts';
import type { Representation, Shown } from '../api/route.ts';
import { userOf } from '../api/user-of.ts';
import type { AppointmentBody, PreviewBody } from '../appointments/contract.ts';
import { requireTarget } from '../appointments/targets.ts';
import { findCancellation } from '../confirmations/items.ts';
import { asClient } from '../ehr/guard/caller.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import type { PlannedWrite } from '../operations/kind.ts';
import { isReplayed, type OperationResponse } from '../operations/operation-response.ts';
import { Problem } from '../problems/problem.ts';
import { addWrite, jsonMediaTypes } from './add-interaction.ts';
import { ifUnknown, readNative } from './appointments.ts';
import {
  assertUnconditional,
  assertVersion,
  conditionOf,
  keyOfCreate,
  keyOfOther,
  lostOf,
  noteLost,
} from './conditions.ts';
import { type Directory, namedFrom, readDirectory } from './directory.ts';
import { baseOf, type FaceDeps, faceRepresentation, outcomeOf, unknownResource } from './face.ts';
import { invalid, unprocessable } from './from-fhir/faults.ts';
import { type ChangeRules, changeBody, creationBody } from './from-fhir/native-bodies.ts';
import { jsonPatchOf, patched } from './from-fhir/patch.ts';
import { lostFromAppointment, type Reading, readAppointment } from './from-fhir/read-appointment.ts';
import {
  fhirAppointmentSchema,
  jsonPatchSchema,
  parametersSchema,
  type SentAppointment,
  type SentParameter,
} from './from-fhir/schemas.ts';
import { fromFhirId } from './ids.ts';
import { accessOf, type Natives } from './native.ts';
import { patientNames } from './notation.ts';
import { allFine, warning } from './operation-outcome.ts';
import { etagOf, preferenceOf } from './preferences.ts';
import { readReference } from './references.ts';
import { appointmentContent, toAppointment, versionOfAppointment } from './to-fhir/appointment.ts';
import { toServiceType } from './to-fhir/healthcare-service.ts';

const jsonPatch = 'application/json-patch+json';
const id = { id: Type.String() };
const common = { scopes: ['appointments:write'], audit: oneRecord, body: Type.Unknown() } as const;

/** Writes of Appointment. Each is planned, made, stored and replayed as the native operation that it stands for. */
export function addAppointmentWrites(app: FastifyInstance, deps: FaceDeps): void {
  const writing = {
    consumes: jsonMediaTypes,
    keyOf: (request: FastifyRequest) => keyOfOther(request),
    show: shownBy(deps),
  };
  const create = (request: FastifyRequest, body: unknown) => {
    const appointment = deps.nativesOf(request).check(fhirAppointmentSchema, body);
    // An order or a proposal is never booked by accident.
    if (appointment.status !== 'booked') throw unprocessable('/status', 'A new Appointment must be booked.');
    return planBooking(deps, request, appointment);
  };
  const update = async (request: FastifyRequest, idInPath: string, body: unknown) => {
    const natives = deps.nativesOf(request);
    const before = await readBefore(request, natives, idInPath).catch(asUnknownUpdate);
    const appointment = natives.check(fhirAppointmentSchema, body);
    if (appointment.id !== idInPath) throw invalid('/id', 'The id must be the one in the path.');
    return planChange(deps, request, before, appointment, { isWhole: true, isPatch: false });
  };

  addWrite(app, {
    ...common,
    name: 'fhir_create_appointment',
    method: 'POST',
    path: '/Appointment',
    status: 201,
    representation: {
      ...writing,
      keyOf: (request) => keyOfCreate(deps, request),
      isCondition,
      show: (response, request) => presentOf(deps, request, response).then((it) => shownBy(deps)(it, request)),
    },
    plan: async ({ body }, request) => create(request, body),
  });

  addWrite(app, {
    ...common,
    name: 'fhir_update_appointment',
    method: 'PUT',
    path: '/Appointment/:id',
    params: id,
    status: 200,
    representation: writing,
    plan: ({ params, body }, request) => update(request, String(params.id), body),
  });

  addWrite(app, {
    ...common,
    name: 'fhir_patch_appointment',
    method: 'PATCH',
    path: '/Appointment/:id',
    params: id,
    status: 200,
    representation: { ...writing, consumes: [jsonPatch, 'application/fhir+json'] },
    plan: ({ params, body }, request) => planPatch(deps, request, String(params.id), body),
  });

  addWrite(app, {
    ...common,
    name: 'fhir_confirm_appointment',
    method: 'POST',
    path: '/Appointment/:id/$confirm',
    params: id,
    status: 200,
    representation: writing,
    async plan({ params, body }, request) {
      const natives = deps.nativesOf(request);
      const { parameter = [] } = natives.check(parametersSchema, body);
      const code = valueIn(parameter, 'code');
      if (code === undefined) throw invalid('/parameter', 'The parameter code is missing.', 'required');
      const appointment_id = await awaitingId(deps, request, String(params.id));
      return natives.plan('change_appointment', { params: { appointment_id }, body: { confirmation: { code } } });
    },
  });

  addWrite(app, {
    ...common,
    name: 'fhir_resend_code',
    method: 'POST',
    path: '/Appointment/:id/$resend-code',
    params: id,
    status: 202,
    representation: writing,
    async plan({ params }, request) {
      const appointment_id = await awaitingId(deps, request, String(params.id));
      return deps.nativesOf(request).plan('resend_confirmation', { params: { appointment_id }, body: {} });
    },
  });

  addWrite(app, {
    ...common,
    name: 'fhir_book_appointment',
    method: 'POST',
    path: '/Appointment/$book',
    status: 201,
    representation: { ...writing, isDryRun: (request) => isTrial(request.body) },
    plan: ({ body }, request) => planBook(deps, request, body),
  });

  const validating = { ...writing, isDryRun: () => true, show: outcomeOfTrial, showProblem: showTrialProblem };
  addWrite(app, {
    ...common,
    name: 'fhir_validate_appointment',
    method: 'POST',
    path: '/Appointment/$validate',
    status: 200,
    representation: validating,
    plan: async ({ body }, request) => create(request, inTrial(body, 'create')),
  });
  addWrite(app, {
    ...common,
    name: 'fhir_validate_appointment_update',
    method: 'POST',
    path: '/Appointment/:id/$validate',
    params: id,
    status: 200,
    representation: validating,
    plan: ({ params, body }, request) => update(request, String(params.id), inTrial(body, 'update')),
  });
}

/**
 * What the plans of requests have read. A response is shown with it, and asks the EHR nothing: the write is made, and the EHR may
 * hang.
 */
const directories = new WeakMap<FastifyRequest, Directory>();

async function readingIn(deps: FaceDeps, request: FastifyRequest): Promise<Reading> {
  const directory = directories.get(request) ?? (await readDirectory(deps.nativesOf(request)));
  directories.set(request, directory);
  const { ehr, careUnit } = accessOf(request);
  return { base: baseOf(deps, request), careUnit, directory, patients: patientNames(ehr) };
}

async function planBooking(
  deps: FaceDeps,
  request: FastifyRequest,
  appointment: SentAppointment,
  schedule?: string,
): Promise<PlannedWrite> {
  assertUnconditional(request);
  const reading = await readingIn(deps, request);
  const wish = readAppointment(appointment, reading, schedule);
  const service = reading.directory.services.find(({ id }) => id === wish.service);
  const shown = service ? { serviceType: [toServiceType(service.id, service.name)] } : {};
  noteLost(request, lostFromAppointment(appointment, shown, identifierOf(deps, request)));
  const body = creationBody(wish, reading.careUnit.timeZone);
  const planned = await deps.nativesOf(request).plan('create_appointment', { query: { dry_run: false }, body });
  // Before anything is booked: what is booked must be found again.
  const isNamed = (id: string) =>
    reading.patients.fhirIdOf(formatIdentifier({ type: 'emr_id', value: id })) !== undefined;
  if (planned.kind.patientsOf(planned.plan).every(isNamed)) return planned;
  throw unprocessable('/participant', 'The id of this patient is too long for FHIR.', 'not-supported');
}

async function planChange(
  deps: FaceDeps,
  request: FastifyRequest,
  before: AppointmentBody,
  appointment: SentAppointment,
  rules: Omit<ChangeRules, 'timeZone'>,
): Promise<PlannedWrite> {
  assertUnconditional(request);
  const reading = await readingIn(deps, request);
  const current = toAppointment(before, namedFrom(request, deps.nativesOf(request), reading.directory));
  const wish = readAppointment(withoutSame(appointment, current), reading);
  const removed = Object.keys(rules.isPatch ? (current ?? {}) : {}).filter(
    (it) => it !== 'comment' && !(it in appointment),
  );
  noteLost(request, [
    ...lostFromAppointment(appointment, current ?? {}),
    ...removed.map((it) => warning(`${it} is not removed.`, `Appointment.${it}`)),
  ]);
  const body = changeBody(before, wish, { ...rules, timeZone: reading.careUnit.timeZone });
  return planNativeChange(deps, request, before.id, body);
}

function planNativeChange(deps: FaceDeps, request: FastifyRequest, appointmentId: string, body: object) {
  const params = { appointment_id: appointmentId };
  return deps.nativesOf(request).plan('change_appointment', { params, query: { dry_run: false }, body });
}

/**
 * An Appointment without what was read and says nothing: a Slot is one of a practitioner, room or device, who may be another one
 * now; of some appointments, the EHR knows a start alone, or a name alone.
 */
function withoutSame(appointment: SentAppointment, current: Appointment | undefined): SentAppointment {
  const isSame = (name: 'slot' | 'start' | 'end') => isDeepStrictEqual(appointment[name], current?.[name]);
  const isNameAlone = ({ actor }: SentAppointment['participant'][number]) =>
    actor !== undefined && !actor.reference && !actor.identifier;
  const participant = appointment.participant.filter(
    (it) => !isNameAlone(it) || !current?.participant.some((one) => isDeepStrictEqual(it, one)),
  );
  if (!isSame('slot') || !isSame('start') || !isSame('end')) return { ...appointment, participant };
  const { slot: _, start, ...rest } = appointment;
  return { ...rest, participant, ...(rest.end === undefined || start === undefined ? {} : { start }) };
}

/** The appointment that a request changes. A precondition comes before all that the body says: RFC 9110, section 13.2. */
async function readBefore(request: FastifyRequest, natives: Natives, idInPath: string): Promise<AppointmentBody> {
  const before = await readNative(natives, idInPath);
  assertVersion(request, versionOfAppointment(before));
  return before;
}

/** https://hl7.org/fhir/R4/http.html#upsert: clients choose no ids. */
function asUnknownUpdate(error: unknown): never {
  if (!(error instanceof Problem) || error.reason !== 'appointment_not_found') throw error;
  const detail = 'No Appointment has this id, and clients cannot choose ids. Create one with POST.';
  throw new Problem('method_not_allowed', { detail, headers: { allow: 'GET, HEAD' } });
}

async function planPatch(
  deps: FaceDeps,
  request: FastifyRequest,
  idInPath: string,
  body: unknown,
): Promise<PlannedWrite> {
  const natives = deps.nativesOf(request);
  const isFhirPath = !(request.headers['content-type'] ?? '').includes('json-patch');
  const [before, { directory }] = await Promise.all([readBefore(request, natives, idInPath), readingIn(deps, request)]);
  const current = toAppointment(before, namedFrom(request, natives, directory));
  if (!current) throw unknownResource('appointment_not_found');
  const patch = isFhirPath
    ? jsonPatchOf(natives.check(parametersSchema, body).parameter ?? [], current)
    : natives.check(jsonPatchSchema, body);
  const appointment = natives.check(fhirAppointmentSchema, patched(current, patch));
  assertSameTime(current, appointment);
  return planChange(deps, request, before, appointment, { isWhole: true, isPatch: true });
}

/** As ISiK has it, a patch does not move. @throws Problem `request_invalid` */
function assertSameTime(current: Appointment, appointment: SentAppointment): void {
  for (const name of ['start', 'end', 'slot', 'minutesDuration'] as const) {
    if (JSON.stringify(current[name]) === JSON.stringify(appointment[name])) continue;
    throw invalid(`/${name}`, 'Move an Appointment by PUT or $book.', 'not-supported');
  }
}

/**
 * The native id that awaits a code, or awaited one: of the cancellation, or else of the booking.
 *
 * @throws Problem `appointment_not_found`
 */
async function awaitingId(deps: FaceDeps, request: FastifyRequest, idInPath: string): Promise<string> {
  assertUnconditional(request);
  if (request.headers['if-match'] !== undefined) await readBefore(request, deps.nativesOf(request), idInPath);
  // For the response. A code is entered without it, too.
  await readingIn(deps, request).catch(() => undefined);
  const access = accessOf(request);
  const native = fromFhirId(idInPath);
  if (native === undefined) throw unknownResource('appointment_not_found');
  const { id, kind, appointment } = await requireTarget({ ...access, services: deps.services }, native);
  if (kind === 'cancellation') throw unknownResource('appointment_not_found');
  const { ehr, careUnit } = access;
  const cancellation = await findCancellation(deps.services.db, ehr.id, careUnit.id, appointment.id);
  return cancellation?.id ?? id;
}

/** https://simplifier.net/guide/isik-terminplanung: a whole Appointment, alone or as a parameter. */
async function planBook(deps: FaceDeps, request: FastifyRequest, body: unknown): Promise<PlannedWrite> {
  const natives = deps.nativesOf(request);
  const asked = ['proposed', 'pending'] as const;
  const parameters = isParameters(body) ? (natives.check(parametersSchema, body).parameter ?? []) : [];
  const unknown = parameters.findIndex(({ name }) => !bookParameters.includes(name));
  if (unknown !== -1) {
    throw unprocessable(`/parameter/${unknown}`, `The parameters are ${bookParameters.join(', ')}.`, 'not-supported');
  }
  const resource = isParameters(body) ? parameters.find(({ name }) => name === 'appt-resource')?.resource : body;
  if (resource === undefined) throw invalid('/parameter', 'The parameter appt-resource is missing.', 'required');
  const appointment = natives.check(fhirAppointmentSchema, resource);
  if (!asked.some((it) => it === appointment.status)) {
    throw unprocessable('/status', 'An Appointment that $book books is proposed.');
  }
  const base = baseOf(deps, request);
  const local = (name: string) => {
    const text = valueIn(parameters, name);
    return text === undefined ? undefined : (readReference(text, base)?.id ?? text);
  };
  const former = local('cancelled-appt-id');
  const before =
    former === undefined
      ? appointment.id && (await readBefore(request, natives, appointment.id).catch(ifUnknown))
      : await readBefore(request, natives, former).catch(asUnknownFormer);
  // An id that no Appointment has is the client's own, and the server assigns another one.
  if (!before) return planBooking(deps, request, appointment, local('schedule'));
  return planChange(deps, request, before, appointment, { isWhole: false, isPatch: false, asked });
}

const bookParameters = ['appt-resource', 'schedule', 'cancelled-appt-id', 'dry-run'];

/** What a body names and nobody has. */
function asUnknownFormer(error: unknown): never {
  if (!(error instanceof Problem) || error.reason !== 'appointment_not_found') throw error;
  throw new Problem('appointment_not_found', { status: 422 });
}

function isParameters(body: unknown): boolean {
  return (body as { readonly resourceType?: unknown } | null)?.resourceType === 'Parameters';
}

function valueIn(parameters: readonly SentParameter[], wanted: string): string | undefined {
  const found = parameters.find(({ name }) => name === wanted);
  return (
    found &&
    (found.valueString ?? found.valueCode ?? found.valueId ?? found.valueUri ?? found.valueReference?.reference)
  );
}

/** The parameters of a body that nothing has checked yet. */
function parametersIn(body: unknown): readonly Partial<SentParameter>[] {
  const { parameter } = (body ?? {}) as { readonly parameter?: unknown };
  return isParameters(body) && Array.isArray(parameter) ? parameter.filter((it) => it !== null) : [];
}

/** The own parameter `dry-run` of `$book`. */
function isTrial(body: unknown): boolean {
  return parametersIn(body).some(({ name, valueBoolean }) => name === 'dry-run' && valueBoolean === true);
}

/**
 * The resource to validate: https://hl7.org/fhir/R4/resource-operation-validate.html
 *
 * @throws Problem `request_invalid` (422) for another mode
 */
function inTrial(body: unknown, mode: 'create' | 'update'): unknown {
  if (!isParameters(body)) return body;
  const parameters = parametersIn(body);
  const sent = parameters.find(({ name }) => name === 'mode')?.valueCode ?? mode;
  if (sent !== mode) throw unprocessable('/parameter', `The mode must be ${mode} here.`, 'not-supported');
  return parameters.find(({ name }) => name === 'resource')?.resource;
}

async function outcomeOfTrial(_response: OperationResponse, request: FastifyRequest): Promise<Shown> {
  return { status: 200, body: allFine('The request would succeed.', lostOf(request)) };
}

/** What could be checked is 200: https://hl7.org/fhir/R4/resource-operation-validate.html */
function showTrialProblem(problem: Problem, request: FastifyRequest): Shown {
  const isChecked = [400, 405, 409, 422].includes(problem.status) && request.body !== undefined;
  const shown = faceRepresentation.showProblem(problem, request);
  return isChecked ? { ...shown, status: 200, body: outcomeOf(problem, request) } : shown;
}

/** Shows what a write has made, new or stored. */
function shownBy(deps: FaceDeps): NonNullable<Representation['show']> {
  return async ({ body, status = 200, headers = {} }, request) => {
    const native = body as AppointmentBody | PreviewBody;
    const named = namedFrom(request, deps.nativesOf(request), directories.get(request));
    if (native.id === null || 'change' in native) return { status: 200, body: appointmentContent(native, named) };
    const written = native as AppointmentBody;
    const isPending = written.confirmation !== null;
    const appointment = toAppointment(written, named);
    const { location: _, ...others } = headers;
    const shown = { status: shownStatus(request, status, isPending, headers), headers: others };
    // It has an id that FHIR cannot name: it is written all the same.
    if (!appointment) return { ...shown, body: appointmentContent(written, named) };
    const versionId = appointment.meta?.versionId;
    const url = `${baseOf(deps, request)}/Appointment/${appointment.id}/_history/${versionId}`;
    return {
      status: shown.status,
      headers: {
        ...others,
        etag: etagOf(versionId),
        ...(status === 201 ? { location: url } : {}),
        ...expiryOf(written),
      },
      ...preferred(request, isPending, withIdentifier(appointment, identifierOf(deps, request))),
    };
  };
}

function isCondition({ headers }: FastifyRequest): boolean {
  return headers['if-none-exist'] !== undefined;
}

/** The identifier that a create names in `If-None-Exist`. */
function identifierOf(deps: FaceDeps, request: FastifyRequest) {
  return isCondition(request) ? conditionOf(deps, request, 'Appointment') : undefined;
}

/**
 * The Appointment that exists as it is now, for a create with `If-None-Exist`. While the EHR is away, as it was.
 *
 * @throws Problem `appointment_not_found` (422): the EHR no longer has it
 */
async function presentOf(
  deps: FaceDeps,
  request: FastifyRequest,
  response: OperationResponse,
): Promise<OperationResponse> {
  if (!isReplayed(response.headers) || !isCondition(request)) return response;
  const { id } = response.body as AppointmentBody;
  const natives = deps.nativesOf(request);
  const read = () => natives.read<AppointmentBody>('get_appointment', { params: { appointment_id: id } });
  const body = await asClient(accessOf(request).client.id, read, userOf(request)).catch(asUnknownFormer).catch(ifAway);
  return body ? { ...response, body } : response;
}

function ifAway(error: unknown): undefined {
  if (error instanceof Problem && error.status >= 500) return undefined;
  throw error;
}

/** 202: nobody has agreed yet. 200: the Appointment exists, as `If-None-Exist` asks. */
function shownStatus(
  { headers: sent, routeOptions }: FastifyRequest,
  status: number,
  isPending: boolean,
  headers: Readonly<Record<string, string>>,
): number {
  if (isReplayed(headers) && sent['if-none-exist'] !== undefined) return 200;
  const isPlainCreate = routeOptions.config.operation?.operationId === 'fhir_create_appointment';
  return isPending && !isPlainCreate ? 202 : status;
}

/** The end of a hold, as Argonaut shows it. */
function expiryOf({ confirmation }: AppointmentBody): Record<string, string> {
  return confirmation ? { expires: new Date(confirmation.expires_at).toUTCString() } : {};
}

/** The identifier in `If-None-Exist` finds the Appointment for a day. */
function withIdentifier(appointment: Appointment, identifier: Identifier | undefined): Appointment {
  if (!identifier) return appointment;
  const { resourceType, id: own, meta, extension, ...rest } = appointment;
  return {
    resourceType,
    ...(own === undefined ? {} : { id: own }),
    ...(meta ? { meta } : {}),
    ...(extension ? { extension } : {}),
    identifier: [identifier],
    ...rest,
  };
}

/** https://hl7.org/fhir/R4/http.html#ops. That a code is awaited is said in any case. */
function preferred(request: FastifyRequest, isPending: boolean, appointment: Appointment): Pick<Shown, 'body'> {
  switch (preferenceOf(request, 'return')) {
    case 'minimal':
      return isPending ? { body: appointment } : {};
    case 'OperationOutcome':
      return { body: allFine(`The Appointment is ${appointment.status}.`, lostOf(request)) };
    default:
      return { body: appointment };
  }
}
