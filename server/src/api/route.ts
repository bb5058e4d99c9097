import { Readable } from 'node:stream';
import type { ChangeKind, ConnectorOperation, Patient } from '@crossward/connector-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { Client } from '../clients/client-registry.ts';
import type { Scope } from '../config/schema.ts';
import type { Tx } from '../db/kysely.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { asClient } from '../ehr/guard/caller.ts';
import { newReached } from '../ehr/reached.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { describeError } from '../log/describe-error.ts';
import type { PlannedWrite } from '../operations/kind.ts';
import type { OperationResponse } from '../operations/operation-response.ts';
import type { OperationServices } from '../operations/services.ts';
import type { Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { discardUpload } from '../uploads/remove-uploads.ts';
import type { Upload } from '../uploads/upload.ts';
import { audited, auditResponse, type ReadShown } from './audit-request.ts';
import { headerReader } from './header-reader.ts';
import { patiently } from './request-patience.ts';
import { userOf } from './user-of.ts';
import { writeOnce, writeToEhr } from './write-request.ts';

/** A standard that requests and responses can follow. */
export type Standard = 'native' | 'fhir-r4';

/** The level of access that an operation needs. It determines the path prefix. */
export type Level = 'client' | 'emr' | 'care_unit';

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

/**
 * Operations of the connector and kinds of change that the EHR must support. `patients`: it can look patients up, or their
 * identifiers pass through.
 */
export type Needs = readonly (ConnectorOperation | ChangeKind | 'patients')[];

/** What credentials and path give access to, by level. */
interface AccessByLevel {
  client: { readonly client: Client };
  emr: AccessByLevel['client'] & { readonly ehr: EhrConnection };
  care_unit: AccessByLevel['emr'] & { readonly careUnit: CareUnitConnection };
}
export type Access<L extends Level = 'care_unit'> = AccessByLevel[L];

export type Input<
  L extends Level,
  Params extends TProperties,
  Query extends TProperties,
  Body extends TSchema,
> = Access<L> & {
  readonly params: Static<TObject<Params>>;
  readonly query: Static<TObject<Query>>;
  readonly body: Static<Body>;
  readonly readHeader: ReadHeader;
  /** For an operation with a `form`: the content of the body, already stored. Deleted afterwards, unless adopted. */
  readonly upload: Upload | undefined;
  /** What `findReceiver` has found. */
  readonly receiver: Promise<Patient> | undefined;
};

/**
 * What an operation does: it reads, plans a write to the EHR, or writes to the gateway's own tables. The request itself is for
 * operations in another standard, whose parameters no schema describes.
 */
type Action<Input> =
  | { handle(input: Input, request: FastifyRequest): Promise<OperationResponse> }
  /** Made at most once for each `Idempotency-Key`. */
  | { plan(input: Input, request: FastifyRequest): Promise<PlannedWrite> }
  /** Done at most once for each `Idempotency-Key`, in one transaction. */
  | { store(tx: Tx, input: Input): Promise<OperationResponse> };

/**
 * An operation of the interface. The source of its types, validation, serialisation, access control and OpenAPI
 * description.
 */
export type Operation<
  L extends Level,
  Params extends TProperties = TProperties,
  Query extends TProperties = TProperties,
  Body extends TSchema = TSchema,
> = Declaration<L, Params, Query, Body> & Action<Input<L, Params, Query, Body>>;

interface Declaration<L extends Level, Params extends TProperties, Query extends TProperties, Body extends TSchema> {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly level: L;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Appended to the level's prefix. Parameters are written `:name`, as in Fastify. */
  readonly path: string;
  /** What the EHR must support. Absent: it depends on the request, or on nothing. */
  readonly needs?: Needs;
  /** What the operation can be used for, by the name that `GET /api/emrs/{emr}` lists, with what each needs. */
  readonly parts?: Readonly<Record<string, Needs>>;
  /**
   * Leaves an entry in the audit trail, with the patients that the response is about. `none`: it concerns no patient.
   * `if_patient`: only if the request names one.
   */
  readonly audit: 'none' | (L extends 'care_unit' ? ReadShown | 'if_patient' : never);
  /** The client needs one of these. Empty: any client has access. */
  readonly scopes: readonly Scope[];
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Maximum size of the body in bytes. Default: 1 MiB. */
  readonly bodyLimit?: number;
  /**
   * Schema of the body as `multipart/form-data`, for a body whose field `content` can be long: it is stored while it arrives.
   * In either media type, `body.content` is a hash of it. Requires `addUploadBodies` in the scope.
   */
  readonly form?: TSchema;
  /** Looks up the patient whom the content is for, before it arrives: it is not stored if the look-up fails. */
  readonly findReceiver?: (
    input: Access & Pick<Input<L, Params, Query, Body>, 'params' | 'readHeader'>,
  ) => Promise<Patient>;
  readonly response: {
    /** 204: no body. */
    readonly status: 200 | 201 | 202 | 204;
    readonly description: string;
    readonly schema: TSchema;
    /** When the status is 200 instead: the object exists already. */
    readonly existing?: string;
    /** Media types of a response that is a stream of bytes: a `Readable` in `body`, with a `content-type` header. */
    readonly mediaTypes?: readonly string[];
  };
  /** Schema of the response to a dry run (200). */
  readonly preview?: TSchema;
  /** Reasons of problems, beyond those that all operations of this level share. */
  readonly reasons: readonly Reason[];
  /** `*_not_found` reasons for identifiers in the query or body. Their status is 400. */
  readonly reasonsOfNames?: readonly Reason[];
  /** Set if requests and responses follow another standard than the native one. */
  readonly representation?: Representation;
  readonly examples: {
    readonly params?: Readonly<Record<string, unknown>>;
    readonly query?: Readonly<Record<string, unknown>>;
    readonly body?: unknown;
    readonly response: unknown;
  };
}

/** A response as it is sent. */
export type Shown = Omit<OperationResponse, 'body'> & { readonly body?: object };

/** How an operation speaks another standard. What it does is what the native operations do. */
export interface Representation {
  /** The value of `x-service-standard`. */
  readonly standard: Standard;
  readonly mediaType: string;
  /** Media types of the body. */
  readonly consumes?: readonly string[];
  /** Also for callers without credentials. Then the operation has no client. */
  readonly isPublic?: boolean;
  /** Whether a write is only tried. Default: by the query parameter `dry_run`. */
  isDryRun?(request: FastifyRequest): boolean;
  /** The idempotency key of a request. Default: its header. @throws Problem `request_invalid` */
  keyOf?(request: FastifyRequest): string | undefined;
  /** Whether a refusal leaves the key free for another request. */
  isCondition?(request: FastifyRequest): boolean;
  /** Shows a response, new or stored, in the standard. */
  show?(response: OperationResponse, request: FastifyRequest): Promise<Shown>;
  /** Shows a problem in the standard. */
  showProblem(problem: Problem, request: FastifyRequest): Shown;
}

/** Body of an operation without fields: absent or an empty object. */
const noFields = Type.Object({}, { additionalProperties: false });

/** An operation with any parameters, for hooks and the OpenAPI description. */
export type AnyOperation = Omit<Declaration<Level, TProperties, TProperties, TSchema>, 'audit' | 'findReceiver'> & {
  readonly audit: 'none' | 'if_patient' | ReadShown;
  readonly findReceiver?: (request: FastifyRequest, identifierHeaders: ReadonlySet<string>) => Promise<Patient>;
  /** What it does, for other representations of it. */
  readonly action: {
    readonly handle?: (input: unknown) => Promise<OperationResponse>;
    readonly plan?: (input: unknown) => Promise<PlannedWrite>;
  };
  /** It changes nothing. A search whose terms must not be in a URL is a POST. */
  readonly isRead: boolean;
};

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: AnyOperation;
  }
  interface FastifyInstance {
    /** All native operations, by operationId. */
    operations: Map<string, AnyOperation>;
    operationServices: OperationServices;
    identifierHeaders: ReadonlySet<string>;
  }
  interface FastifyRequest {
    access?: AccessByLevel['client'] & Partial<AccessByLevel['care_unit']>;
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

export function addOperation<L extends Level, P extends TProperties, Q extends TProperties, B extends TSchema>(
  app: FastifyInstance,
  operation: Operation<L, P, Q, B>,
): void {
  const { method, level, path, response, operationId, summary, description, tag } = operation;
  const { findReceiver, representation } = operation;
  const isRead = 'handle' in operation;
  const known = {
    ...operation,
    action: {
      ...('handle' in operation && { handle: operation.handle }),
      ...('plan' in operation && { plan: operation.plan }),
    },
    isRead,
    ...(findReceiver && {
      findReceiver: async (request: FastifyRequest, identifierHeaders: ReadonlySet<string>) =>
        asClient(
          request.access?.client.id ?? '',
          async () =>
            findReceiver({
              ...request.access,
              params: request.params,
              readHeader: headerReader(request, identifierHeaders),
            } as Parameters<typeof findReceiver>[0]),
          userOf(request),
        ),
    }),
  } as unknown as AnyOperation;
  if (!representation) app.operations.set(operationId, known);
  app.route({
    method,
    url: `${prefixes[level]}${path}`,
    ...(operation.bodyLimit === undefined ? {} : { bodyLimit: operation.bodyLimit }),
    config: { operation: known },
    // Without this, a HEAD request would read the whole stream.
    exposeHeadRoute: method === 'GET' && !response.mediaTypes,
    // A write stores its validation problem under the idempotency key, so the handler reports it.
    attachValidation: !isRead,
    schema: {
      operationId,
      summary,
      ...(description === undefined ? {} : { description }),
      tags: [tag],
      params: Type.Object({ ...levelParams[level], ...operation.params }),
      querystring: Type.Object({ ...operation.query }, { additionalProperties: representation !== undefined }),
      ...(method === 'GET' ? {} : { body: operation.body ?? noFields }),
      ...(response.mediaTypes || response.status === 204 || representation
        ? {}
        : { response: { [response.status]: response.schema } }),
    },
    ...(method === 'GET' || operation.body
      ? {}
      : {
          preValidation: (request, _reply, done) => {
            if (request.body === undefined) request.body = {};
            done();
          },
        }),
    handler: patiently(async (request, reply) => {
      const input = () =>
        ({
          ...request.access,
          params: request.params,
          query: request.query,
          body: request.body,
          readHeader: headerReader(request, app.identifierHeaders),
          upload: request.upload,
          receiver: request.receiver,
        }) as Input<L, P, Q, B>;
      const run = async () => {
        if ('plan' in operation)
          return writeToEhr(app.operationServices, request, () => operation.plan(input(), request));
        if ('store' in operation)
          return writeOnce(app.operationServices, request, (tx) => operation.store(tx, input()));
        return operation.handle(input(), request);
      };
      const reached = operation.audit === 'none' ? undefined : newReached();
      const call = () => (reached ? audited(request, reached, run) : run());
      const done = asClient(request.access?.client.id ?? '', call, userOf(request));
      const { body, headers, status } = await (request.upload
        ? done.finally(() => discardUnused(app.operationServices, request))
        : done);
      const leavesEntry = reached && (operation.audit !== 'if_patient' || reached.patients.size > 0);
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
      if (status !== undefined || !isRead) reply.serializer(JSON.stringify);
      return body;
    }),
  });
}

/** Sends what an operation shows in another standard. */
export function sendShown({ mediaType }: Representation, shown: Shown, reply: FastifyReply): FastifyReply {
  const { body, status = 200, headers } = shown;
  reply.code(status).headers({ ...headers });
  return body ? reply.type(mediaType).serializer(JSON.stringify).send(body) : reply.send();
}

/** Ends the stream of a response that is not sent. */
function discarding(body: object): (error: unknown) => never {
  return (error) => {
    if (body instanceof Readable) body.destroy();
    throw error;
  };
}

/** Background deletion removes what cannot be deleted now. */
async function discardUnused({ db }: OperationServices, { upload, log }: FastifyRequest): Promise<void> {
  if (!upload) return;
  await discardUpload(db, upload.id).catch((error) => log.warn({ cause: describeError(error) }, 'upload not deleted'));
}
