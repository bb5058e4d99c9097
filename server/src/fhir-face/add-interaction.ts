import type { Bundle, Resource } from '@medplum/fhirtypes';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type TProperties, type TSchema } from 'typebox';
import type { ReadShown } from '../api/audit-request.ts';
import { addOperation, type Input, type Representation } from '../api/route.ts';
import type { Scope } from '../config/schema.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import type { PlannedWrite } from '../operations/kind.ts';
import { Problem } from '../problems/problem.ts';
import { facePath, faceRepresentation, showRead } from './face.ts';
import { accessOf } from './native.ts';

/** An interaction of the face: https://hl7.org/fhir/R4/http.html. Declared as every operation, in the FHIR representation. */
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

const common = {
  tag: 'FHIR',
  level: 'care_unit',
  // The CapabilityStatement describes the interactions.
  summary: '',
  reasons: [],
  examples: { response: {} },
} as const;
const okResponse = { status: 200, description: '', schema: Type.Any() } as const;
const id = { id: Type.String() };

/** `GET [base]/{type}/{id}` */
export function addRead(
  app: FastifyInstance,
  type: string,
  { name, scopes, audit }: Interaction,
  read: (request: FastifyRequest, id: string) => Promise<Resource>,
): void {
  addOperation(app, {
    ...common,
    operationId: name,
    method: 'GET',
    path: `${facePath}/${type}/:id`,
    scopes,
    audit,
    params: id,
    response: okResponse,
    representation: {
      ...faceRepresentation,
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

/** `GET [base]/{type}` and `POST [base]/{type}/_search` */
export function addSearch(
  app: FastifyInstance,
  type: string,
  { name, scopes, audit }: Interaction,
  search: (request: FastifyRequest) => Promise<Bundle>,
): void {
  const declared = { ...common, scopes, audit, response: okResponse };
  const handle = async (_input: object, request: FastifyRequest) => {
    assertNameable(type, request);
    return { body: await search(request) };
  };
  addOperation(app, {
    ...declared,
    operationId: name,
    method: 'GET',
    path: `${facePath}/${type}`,
    representation: faceRepresentation,
    handle,
  });
  addOperation(app, {
    ...declared,
    operationId: name,
    method: 'POST',
    path: `${facePath}/${type}/_search`,
    body: Type.Unknown(),
    representation: { ...faceRepresentation, consumes: [formMediaType] },
    handle,
  });
}

interface WriteInteraction<Body extends TSchema> extends Interaction {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  /** Below the face. */
  readonly path: string;
  readonly params?: TProperties;
  readonly body: Body;
  readonly status: 200 | 201 | 202;
  readonly representation: Required<Pick<Representation, 'consumes' | 'show'>> & Partial<Representation>;
  plan(input: Input<'care_unit', TProperties, TProperties, Body>, request: FastifyRequest): Promise<PlannedWrite>;
}

/** A write, with what it plans natively. */
export function addWrite<Body extends TSchema>(app: FastifyInstance, write: WriteInteraction<Body>): void {
  const { name, method, path, params = {}, body, status, scopes, audit, representation, plan } = write;
  addOperation(app, {
    ...common,
    operationId: name,
    method,
    path: `${facePath}${path}`,
    scopes,
    audit,
    params,
    body,
    response: { ...okResponse, status },
    representation: { ...faceRepresentation, ...representation },
    async plan(input, request) {
      assertNameable(path.split('/')[1] ?? '', request);
      return plan(input, request);
    },
  });
}
