import type { Resource } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { AnyEndpoint, Representation, Shown } from '../../api/endpoint.ts';
import type { InCareUnit } from '../../writes/write-kind.ts';
import { asUnknownUpdate } from '../appointments/update.ts';
import { accessOf, baseOf, facePath, unitBase, unknownResource } from '../face.ts';
import { unprocessable } from '../from-fhir/faults.ts';
import { clientOf, inAllUnits, mapped, qualify, readId, readUnitReference, unitName } from './unit-names.ts';

/** Whether an id at the end of the path, or the Appointment in the body, names the care unit: nothing else is searched for. A Subscription is of a care unit. */
export function namesItsUnit({ method, path }: AnyEndpoint): boolean {
  const isBooking =
    method === 'POST' && path.startsWith(`${facePath}/Appointment`) && !/\/(_search|\$find)$/.test(path);
  const isOfUnit = /^\/(Subscription|Basic)\b/.test(path.slice(facePath.length));
  const endsWithId = /\/:id(\/\$[a-z-]+)?$/.test(path);
  return path.startsWith(`${facePath}/`) && !isOfUnit && (endsWithId || isBooking);
}

/** An endpoint of a care unit below the base URL over all care units, with ids of that one. `handOver` finds the care unit. */
export function handedOver(endpoint: AnyEndpoint): AnyEndpoint {
  const { representation } = endpoint;
  if (!representation?.show) throw new Error('It shows nothing');
  return { ...endpoint, level: 'client', representation: { ...representation, show: showing(representation) } };
}

function showing(representation: Representation): NonNullable<Representation['show']> {
  return async (response, request) => {
    const { body, headers, ...shown } = (await representation.show?.(response, request)) ?? {};
    const unit = accessOf(request);
    return {
      ...shown,
      ...(headers && { headers: withLocation(headers, unit, request) }),
      ...(body && { body: inAllUnits(body as Resource, unit, request) }),
    };
  };
}

function withLocation(headers: NonNullable<Shown['headers']>, unit: InCareUnit, request: FastifyRequest) {
  if (headers.location === undefined) return headers;
  const [type = '', id = '', ...version] = headers.location.slice(baseOf(request).length + 1).split('/');
  const whole = qualify(id, unit);
  const base = whole === undefined ? unitBase(request, unit) : baseOf(request);
  return { ...headers, location: [base, type, whole ?? id, ...version].join('/') };
}

const unknown: Readonly<Record<string, Parameters<typeof unknownResource>[0]>> = {
  Patient: 'patient_not_found',
  HealthcareService: 'healthcare_service_not_found',
  Schedule: 'schedule_not_found',
  Slot: 'schedule_not_found',
  Appointment: 'appointment_not_found',
};

/**
 * Makes a request one of the care unit that its path or its body names, with the ids that this care unit knows.
 *
 * @throws Problem 404 if the path names nothing that the client is granted, `request_invalid` (422) if the body names no care unit,
 * or several
 */
export async function handOver(request: FastifyRequest): Promise<void> {
  const params = request.params as { readonly id?: string };
  const unit = params.id === undefined ? unitIn(request.body, request) : unitOfPath(params.id, request);
  request.access = { client: clientOf(request), ehr: unit.ehr, careUnit: unit.careUnit };
  if ('id' in unit) request.params = { ...params, id: unit.id };
  if (request.body !== undefined && request.body !== null) request.body = localBody(request.body, unit, request);
}

function unitOfPath(id: string, request: FastifyRequest) {
  const found = readId(id, request);
  if (found) return found;
  const [, type = ''] = request.routeOptions.url?.split(`${facePath}/`) ?? [];
  const problem = unknownResource(unknown[type.split('/')[0] ?? ''] ?? 'resource_not_found');
  if (request.method === 'PUT') asUnknownUpdate(problem);
  throw problem;
}

function unitIn(body: unknown, request: FastifyRequest): InCareUnit {
  const found = new Map<string, InCareUnit>();
  const note = (text: string) => {
    const unit = readUnitReference(text, request);
    if (unit) found.set(unitName(unit), unit);
    return text;
  };
  mapped(body, { id: () => undefined, reference: note });
  const [unit, other] = [...found.values()];
  if (other) throw unprocessable('/participant', 'The Appointment names more than one care unit.');
  if (unit) return unit;
  const detail =
    'Name the Slot, or the practitioner, room or device, by an id of this base URL: it says which care unit is meant.';
  throw unprocessable('/slot', detail, 'required');
}

const looksLikeReference = /^[A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64}$/;

/**
 * The body with the ids of its care unit.
 *
 * @throws Problem `request_invalid` (422) for a reference to what is not there: its id could be that of somebody else
 */
function localBody(body: object, unit: InCareUnit, request: FastifyRequest): unknown {
  const isOwn = (named: InCareUnit | undefined) => named && unitName(named) === unitName(unit);
  const reference = (text: string) => {
    const named = readUnitReference(text, request);
    if (named && isOwn(named)) return `${named.type}/${named.id}`;
    const detail = 'A reference must have an id of this base URL, of one and the same care unit.';
    throw unprocessable('/participant', detail, 'value');
  };
  const id = (text: string) => {
    const named = readId(text, request);
    if (named && isOwn(named)) return named.id;
    return looksLikeReference.test(text) ? reference(text) : text;
  };
  return mapped(body, { id, reference }, true);
}
