import { Readable } from 'node:stream';
import type { Patient } from '@crossward/connector-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TProperties } from 'typebox';
import { within } from '../context/work-context.ts';
import { describeError } from '../log/describe-error.ts';
import { discardUpload } from '../uploads/remove-uploads.ts';
import type { Upload } from '../uploads/upload.ts';
import type { WriteResponse } from '../writes/write-kind.ts';
import { auditOf, auditResponse } from './audit-request.ts';
import { clientAndUserOf, contextOf } from './context-of.ts';
import {
  type Access,
  type AnyEndpoint,
  type EndpointDeps,
  type Input,
  isRead,
  type Level,
  type Representation,
  type Shown,
} from './endpoint.ts';
import { headerReader } from './identifiers.ts';
import { writeToEhr, writeToOwnTables } from './write-request.ts';

const prefixes: Record<Level, string> = {
  client: '/api',
  emr: '/api/emrs/:emr',
  care_unit: '/api/emrs/:emr/care-units/:care_unit_id',
};

const levelParams = {
  client: {},
  emr: { emr: Type.String({ description: 'Id of the EHR.' }) },
  care_unit: {
    emr: Type.String({ description: 'Id of the EHR.' }),
    care_unit_id: Type.String({ description: 'Id of the care unit in the EHR.' }),
  },
} satisfies Record<Level, TProperties>;

/** Body of an endpoint without fields: absent or an empty object. */
const noFields = Type.Object({}, { additionalProperties: false });

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: AnyEndpoint;
    /** See `isRead`. */
    isRead?: boolean;
  }
  interface FastifyInstance {
    endpointDeps: EndpointDeps;
  }
  interface FastifyRequest {
    access?: Access<'client'> & Partial<Access>;
    upload?: Upload;
    /** See `findReceiver`. */
    receiver?: Promise<Patient> | undefined;
    /** By `performance.now()`. */
    receivedAt: number;
    /** Call it before the first effect. @throws Problem `overloaded` if the caller is gone, or may have given up */
    assertCallerWaits(): Promise<void>;
    /** `assertCallerWaits`, and notes that the write begins. */
    begin(): Promise<void>;
    /** It may have written to the database or the EHR. */
    hasBegun?: boolean;
  }
}

/** Makes a route of an endpoint. */
export function addEndpoint(app: FastifyInstance, endpoint: AnyEndpoint): void {
  const { method, level, path, response, operationId, summary, description, tag, representation } = endpoint;
  app.route({
    method,
    url: `${prefixes[level]}${path}`,
    ...(endpoint.bodyLimit === undefined ? {} : { bodyLimit: endpoint.bodyLimit }),
    config: { endpoint, isRead: isRead(endpoint) },
    // Without this, a HEAD request would read the whole stream.
    exposeHeadRoute: method === 'GET' && !response.mediaTypes,
    // A write stores its validation problem under the idempotency key, so the handler reports it.
    attachValidation: !isRead(endpoint),
    schema: {
      operationId,
      summary,
      ...(description === undefined ? {} : { description }),
      tags: [tag],
      params: Type.Object({ ...levelParams[level], ...endpoint.params }),
      querystring: Type.Object({ ...endpoint.query }, { additionalProperties: representation !== undefined }),
      ...(method === 'GET' ? {} : { body: endpoint.body ?? noFields }),
      ...(response.mediaTypes || response.status === 204 || representation
        ? {}
        : { response: { [response.status]: response.schema } }),
    },
    ...(method === 'GET' || endpoint.body
      ? {}
      : {
          preValidation: (request, _reply, done) => {
            if (request.body === undefined) request.body = {};
            done();
          },
        }),
    handler: async (request, reply) => {
      request.context = { ...contextOf(request), ...clientAndUserOf(request), ...auditOf(request) };
      return within(request.context, () => respond(endpoint, request, reply));
    },
  });
}

/** Does what the endpoint does, leaves the entry in the audit trail, and sends the response. */
async function respond(endpoint: AnyEndpoint, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { audit, representation, response } = endpoint;
  const done = run(endpoint, request);
  const { body, headers, status } = await (request.upload ? done.finally(() => discardUnused(request)) : done);
  const reached = request.context?.reached;
  const leavesEntry = reached && (audit !== 'if_patient' || reached.patients.size > 0);
  if (leavesEntry) await auditResponse(request, body, headers).catch(discarding(body));
  if (representation) {
    const shown = { body, status: status ?? response.status, ...(headers && { headers }) };
    return sendShown(representation, (await representation.show?.(shown, request)) ?? shown, reply);
  }
  reply.code(status ?? response.status);
  if (response.status === 204) return reply.headers({ ...headers }).send();
  if (!response.mediaTypes) reply.type('application/json; charset=utf-8');
  if (headers) reply.headers(headers);
  // A dry run's response does not match the schema that the serialiser was compiled for. That of a write is sent as it is
  // stored under its key, so that a repetition is the same text, also after an upgrade that has changed the schema.
  if (status !== undefined || !request.routeOptions.config.isRead) reply.serializer(JSON.stringify);
  return body;
}

async function run(endpoint: AnyEndpoint, request: FastifyRequest): Promise<WriteResponse> {
  const { services } = request.server.endpointDeps;
  if ('plan' in endpoint) return writeToEhr(services, request, () => endpoint.plan(inputOf(request), request));
  if ('store' in endpoint)
    return writeToOwnTables(services, request, (tx) => endpoint.store(tx, inputOf(request), request));
  return endpoint.handle(inputOf(request), request);
}

/** What an endpoint gets: what a request sends, or what another standard asks for in its place. */
export function inputOf(
  request: FastifyRequest,
  { params, query, body }: Pick<FastifyRequest, 'params' | 'query' | 'body'> = request,
): Input {
  const { access, server, upload, receiver } = request;
  return {
    ...server.endpointDeps,
    ...access,
    params,
    query,
    body,
    readHeader: headerReader(request, server.endpointDeps.identifierHeaders),
    upload,
    receiver,
  } as Input;
}

/** Looks up the patient whom the content of a request is for. `undefined`: the endpoint takes no content. */
export function findReceiver(request: FastifyRequest): Promise<Patient> | undefined {
  const { endpoint } = request.routeOptions.config;
  const find = endpoint?.findReceiver?.bind(endpoint);
  if (!find) return undefined;
  const call = () => find(inputOf(request) as Input & Access);
  return Promise.resolve().then(() => within(clientAndUserOf(request), call));
}

/** Sends what an endpoint shows in another standard. */
export async function sendShown({ send }: Representation, shown: Shown, reply: FastifyReply): Promise<FastifyReply> {
  const { body, status = 200, headers } = shown;
  reply.code(status).headers({ ...headers });
  return body ? send(body, reply) : reply.send();
}

/** Ends the stream of a response that is not sent. */
function discarding(body: object): (error: unknown) => never {
  return (error) => {
    if (body instanceof Readable) body.destroy();
    throw error;
  };
}

/** Background deletion removes what cannot be deleted now. */
async function discardUnused({ upload, log, server }: FastifyRequest): Promise<void> {
  if (!upload) return;
  const { db } = server.endpointDeps.services;
  await discardUpload(db, upload.id).catch((error) => log.warn({ cause: describeError(error) }, 'upload not deleted'));
}
