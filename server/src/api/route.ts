import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { Client } from '../clients/client-registry.ts';
import type { Scope } from '../config/schema.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { asClient } from '../ehr/guard/caller.ts';
import { isReferable, type ReadHeader } from '../identifiers/index.ts';
import type { Answer } from '../operations/answer.ts';
import type { Execute } from '../operations/once.ts';
import type { OperationServices } from '../operations/services.ts';
import type { Reason } from '../problems/reasons.ts';
import { runWrite } from './run-write.ts';

/** How deep in the grants an operation lies, and so what its path begins with. */
export type Level = 'client' | 'emr' | 'care_unit';

const prefixes: Record<Level, string> = {
  client: '/api',
  emr: '/api/emrs/:emr',
  care_unit: '/api/emrs/:emr/care-units/:care_unit_id',
};

const levelParams = {
  client: {},
  emr: { emr: Type.String({ description: 'Target EHR.' }) },
  care_unit: {
    emr: Type.String({ description: 'Target EHR.' }),
    care_unit_id: Type.String({ description: 'Care unit of the EHR.' }),
  },
} satisfies Record<Level, TProperties>;

/** What the credentials and the path have opened, by level. */
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
  /** For a write: carries out its plan, at most once for each `Idempotency-Key`. */
  readonly execute: Execute;
};

/**
 * One operation of the interface. Types, validation, serialisation, access and the OpenAPI description all come from
 * here.
 */
export interface Operation<
  L extends Level,
  Params extends TProperties = TProperties,
  Query extends TProperties = TProperties,
  Body extends TSchema = TSchema,
> {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly level: L;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Below the level's own path, with Fastify's `:name` for parameters. */
  readonly path: string;
  /** One of these is needed. Empty: credentials are enough. */
  readonly scopes: readonly Scope[];
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly answer: { readonly status: 200 | 201 | 202; readonly description: string; readonly schema: TSchema };
  /** What a dry run answers, with 200. */
  readonly preview?: TSchema;
  /** What can go wrong beyond what every operation of this level has in common. */
  readonly reasons: readonly Reason[];
  /** `*_not_found` reasons for what a query or body names: answered with 400. */
  readonly reasonsOfNames?: readonly Reason[];
  readonly examples: {
    readonly params?: Readonly<Record<string, unknown>>;
    readonly query?: Readonly<Record<string, unknown>>;
    readonly body?: unknown;
    readonly answer: unknown;
  };
  handle(input: Input<L, Params, Query, Body>): Promise<Answer>;
}

/** Of an operation that takes no body: none, or an object with nothing in it. */
const noFields = Type.Object({}, { additionalProperties: false });

/** An operation as the hooks and the OpenAPI description see it, whatever its parameters. */
export type AnyOperation = Omit<Operation<Level>, 'handle'>;

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: AnyOperation;
  }
  interface FastifyInstance {
    /** Every operation added so far, by its operationId. */
    operations: Map<string, AnyOperation>;
    operationServices: OperationServices;
    identifierHeaders: ReadonlySet<string>;
  }
  interface FastifyRequest {
    access?: AccessByLevel['client'] & Partial<AccessByLevel['care_unit']>;
  }
}

export function addOperation<L extends Level, P extends TProperties, Q extends TProperties, B extends TSchema>(
  app: FastifyInstance,
  operation: Operation<L, P, Q, B>,
): void {
  const { method, level, path, answer, operationId, summary, description, tag } = operation;
  const known = operation as unknown as AnyOperation;
  app.operations.set(operationId, known);
  app.route({
    method,
    url: `${prefixes[level]}${path}`,
    config: { operation: known },
    // The refusal of a write is kept under its key.
    attachValidation: method !== 'GET',
    schema: {
      operationId,
      summary,
      ...(description === undefined ? {} : { description }),
      tags: [tag],
      params: Type.Object({ ...levelParams[level], ...operation.params }),
      querystring: Type.Object({ ...operation.query }, { additionalProperties: false }),
      ...(method === 'GET' ? {} : { body: operation.body ?? noFields }),
      response: { [answer.status]: answer.schema },
    },
    preValidation: async (request) => {
      if (method !== 'GET' && !operation.body && request.body === undefined) request.body = {};
    },
    handler: async (request, reply) => {
      const handle = (execute: Execute) =>
        operation.handle({
          ...request.access,
          params: request.params,
          query: request.query,
          body: request.body,
          readHeader: headerReader(request, app.identifierHeaders),
          execute,
        } as Input<L, P, Q, B>);
      const { body, headers, status } = await asClient(request.access?.client.id ?? '', () =>
        method === 'GET' ? handle(noWrite) : runWrite(app.operationServices, request, handle),
      );
      reply.code(status ?? answer.status).type('application/json; charset=utf-8');
      if (headers) reply.headers(headers);
      // A preview has a shape of its own beside the one that the serialiser was made for.
      if (status !== undefined) reply.serializer(JSON.stringify);
      return body;
    },
  });
}

function noWrite(): never {
  throw new Error('A read changes nothing');
}

function headerReader({ raw }: FastifyRequest, further: ReadonlySet<string>): ReadHeader {
  const sent = new Map(Object.entries(raw.headersDistinct));
  return (name) => (isReferable(name, further) ? (sent.get(name) ?? []) : undefined);
}
