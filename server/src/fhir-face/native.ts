import type { ErrorObject } from 'ajv';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import { headerReader } from '../api/header-reader.ts';
import type { Access, AnyOperation } from '../api/route.ts';
import { maySeeResource } from '../clients/smart-scopes.ts';
import type { PlannedWrite } from '../operations/kind.ts';
import type { Problem } from '../problems/problem.ts';

/** What a native operation is asked for. */
export interface Asked {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: object;
}

/** The native operations, called for a request of another standard: its client, its care unit, its limits. */
export interface Natives {
  /** Whether the client may see resources of a FHIR type. */
  shows(type: string): boolean;
  /** @throws Problem as the native operation does */
  read<Body>(operationId: string, asked: Asked): Promise<Body>;
  /** @throws Problem as the native operation does */
  plan(operationId: string, asked: Asked): Promise<PlannedWrite>;
  /** The body, or parameters, if they fit a schema. @throws Problem `request_invalid` */
  check<Schema extends TSchema>(schema: Schema, sent: unknown, part?: 'body' | 'querystring'): Static<Schema>;
}

/** Says what does not fit a schema. */
export type Validator = (errors: readonly ErrorObject[], part: 'body' | 'querystring' | 'params') => Problem;

/** The schemas of an operation's parts. Compiled once each. */
interface Schemas {
  readonly params: TSchema;
  readonly querystring: TSchema;
  readonly body: TSchema | undefined;
}

export function nativeOperations(app: FastifyInstance, describe: Validator): (request: FastifyRequest) => Natives {
  const known = new Map<string, Schemas>();
  const operationOf = (id: string): AnyOperation => {
    const operation = app.operations.get(id);
    if (!operation) throw new Error(`No operation is ${id}`);
    return operation;
  };
  const schemasOf = (operation: AnyOperation): Schemas => {
    const schemas = known.get(operation.operationId) ?? {
      params: Type.Object({ ...operation.params }),
      querystring: Type.Object({ ...operation.query }, { additionalProperties: false }),
      body: operation.body,
    };
    known.set(operation.operationId, schemas);
    return schemas;
  };

  return (request) => {
    const input = (operation: AnyOperation, { params = {}, query = {}, body }: Asked) => {
      const { emr, careUnit } = namesOf(request);
      const schemas = schemasOf(operation);
      const sent = { params: { ...params }, querystring: { ...query }, body };
      for (const part of ['params', 'querystring', 'body'] as const) {
        const schema = schemas[part];
        if (schema) validate(request, schema, part, sent[part], describe);
      }
      return {
        ...request.access,
        params: { emr, care_unit_id: careUnit, ...params },
        query: sent.querystring,
        body,
        readHeader: headerReader(request, app.identifierHeaders),
        upload: undefined,
        receiver: undefined,
      };
    };
    return {
      check(schema, sent, part = 'body') {
        validate(request, schema, part, sent, describe);
        return sent as Static<typeof schema>;
      },
      shows: (type) => maySeeResource(accessOf(request).client, type),
      async read<Body>(id: string, asked: Asked) {
        const operation = operationOf(id);
        const response = await operation.action.handle?.(input(operation, asked));
        if (!response) throw new Error(`${id} does not read`);
        return response.body as Body;
      },
      async plan(id, asked) {
        const operation = operationOf(id);
        const planned = await operation.action.plan?.(input(operation, asked));
        if (!planned) throw new Error(`${id} does not write`);
        return planned;
      },
    };
  };
}

/** @throws Problem `request_invalid` */
function validate(
  request: FastifyRequest,
  schema: TSchema,
  part: 'body' | 'querystring' | 'params',
  sent: unknown,
  describe: Validator,
): void {
  const fits = request.getValidationFunction(schema) ?? request.compileValidationSchema(schema, part);
  if (!fits(sent as object)) throw describe(fits.errors as ErrorObject[], part);
}

function namesOf(request: FastifyRequest): { readonly emr: string; readonly careUnit: string } {
  const { ehr, careUnit } = accessOf(request);
  return { emr: ehr.id, careUnit: careUnit.id };
}

/** The client, EHR and care unit of a request to the face. */
export function accessOf({ access }: FastifyRequest): Access {
  const { client, ehr, careUnit } = access ?? {};
  if (!client || !ehr || !careUnit) throw new Error('A request without a care unit');
  return { client, ehr, careUnit };
}
