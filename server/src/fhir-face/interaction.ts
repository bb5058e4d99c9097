import type { Bundle, Resource } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import Type, { type TProperties } from 'typebox';
import { type AnyEndpoint, endpoint, type ReadShown, type Representation } from '../api/endpoint.ts';
import type { Scope } from '../config/schema/schema.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { Problem } from '../problems/problem.ts';
import type { PlannedWrite } from '../writes/write-kind.ts';
import { accessOf, facePath, faceRepresentation, showRead } from './face.ts';

/** An interaction of the face: https://hl7.org/fhir/R4/http.html. An endpoint as every other, in the FHIR representation. */
interface Interaction {
  /** As the audit trail, the logs and the metrics name it. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly audit: 'none' | 'if_patient' | ReadShown;
}

/** Whether ids of FHIR resources can name the appointments of an EHR. Tokens that stand for its ids are too long, too. */
export function namesAppointments({ capabilities }: Pick<EhrConnection, 'capabilities'>): boolean {
  return !capabilities.appointmentIdsNamePatients && !capabilities.longAppointmentIds;
}

/** @throws Problem `operation_unsupported`, before anything is booked that could not be named */
function assertNameable(type: string, request: FastifyRequest): void {
  if (type !== 'Appointment' || namesAppointments(accessOf(request).ehr)) return;
  const detail = 'The ids of appointments of this EHR are too long for FHIR. Use the other interface of the gateway.';
  throw new Problem('operation_unsupported', { detail });
}

export const common = {
  tag: 'FHIR',
  level: 'care_unit',
  // The CapabilityStatement describes the interactions.
  summary: '',
  reasons: [],
  examples: { response: {} },
} as const;
export const okResponse = { status: 200, description: '', schema: Type.Any() } as const;
export const idInPath = { id: Type.String() };

/** An endpoint of the face that describes the face itself, also without credentials. */
export function fhirDescription(
  operationId: string,
  path: string,
  representation: Partial<Representation>,
  describe: (request: FastifyRequest) => object,
): AnyEndpoint {
  return endpoint({
    ...common,
    operationId,
    method: 'GET',
    path: `${facePath}${path}`,
    scopes: [],
    audit: 'none',
    response: okResponse,
    representation: { ...faceRepresentation(), isPublic: true, ...representation },
    handle: async (_input, request) => ({ body: describe(request) }),
  });
}

/** `GET [base]/{type}/{id}` */
export function fhirRead(
  type: string,
  { name, scopes, audit }: Interaction,
  read: (request: FastifyRequest, id: string) => Promise<Resource>,
): AnyEndpoint {
  return endpoint({
    ...common,
    operationId: name,
    method: 'GET',
    path: `${facePath}/${type}/:id`,
    scopes,
    audit,
    params: idInPath,
    response: okResponse,
    representation: {
      ...faceRepresentation(type),
      show: async ({ body }, request) => showRead(body as Resource, request),
    },
    async handle({ params }, request) {
      assertNameable(type, request);
      return { body: await read(request, params.id) };
    },
  });
}

export const jsonMediaTypes = ['application/fhir+json', 'application/json'];
export const formMediaType = 'application/x-www-form-urlencoded';

/**
 * `GET [base]/{type}` and `POST [base]/{type}/_search`
 *
 * @param compartment below a resource of this type: https://hl7.org/fhir/R4/http.html#vsearch
 */
export function fhirSearch(
  type: string,
  { name, scopes, audit }: Interaction,
  search: (request: FastifyRequest) => Promise<Bundle>,
  compartment?: 'Patient',
): readonly AnyEndpoint[] {
  const representation = faceRepresentation(type);
  const params: TProperties = compartment ? idInPath : {};
  const declared = { ...common, operationId: name, scopes, audit, params, response: okResponse } as const;
  const handle = async (_input: object, request: FastifyRequest) => {
    assertNameable(type, request);
    return { body: await search(request) };
  };
  const path = compartment ? `${facePath}/${compartment}/:id/${type}` : `${facePath}/${type}`;
  const form = { ...representation, consumes: [formMediaType] };
  return [
    endpoint({ ...declared, method: 'GET', path, representation, handle }),
    endpoint({
      ...declared,
      method: 'POST',
      path: `${path}/_search`,
      body: Type.Unknown(),
      representation: form,
      handle,
    }),
  ];
}

interface WriteInteraction extends Interaction {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly type: 'Appointment' | 'Patient';
  /** Below the type. */
  readonly path: '' | `/$${string}` | '/:id' | `/:id/$${string}`;
  readonly status: 200 | 201 | 202;
  /** The type of the body, if it is another one. */
  readonly sent?: 'Parameters';
  readonly representation: Required<Pick<Representation, 'consumes' | 'show'>> & Partial<Representation>;
  /** @param id the one in the path, if it has one */
  plan(request: FastifyRequest, body: unknown, id: string): Promise<PlannedWrite>;
}

/** A write, with what it plans natively. */
export function fhirWrite(write: WriteInteraction): AnyEndpoint {
  const { name, method, type, path, status, scopes, audit, sent = type, representation, plan } = write;
  const params: TProperties = path.startsWith('/:id') ? idInPath : {};
  return endpoint({
    ...common,
    operationId: name,
    method,
    path: `${facePath}/${type}${path}`,
    scopes,
    audit,
    params,
    body: Type.Unknown(),
    response: { ...okResponse, status },
    representation: { ...faceRepresentation(sent), ...representation },
    async plan(input, request) {
      assertNameable(type, request);
      return plan(request, input.body, String(input.params.id));
    },
  });
}
