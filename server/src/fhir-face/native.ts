import type { ErrorObject } from 'ajv';
import type { FastifyRequest } from 'fastify';
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import { inputOf } from '../api/add-endpoint.ts';
import type { Declaration, Input, ReadEndpoint, WriteEndpoint } from '../api/endpoint.ts';
import { validationProblem } from '../api/validation.ts';
import { maySeeResource } from '../clients/smart-scopes.ts';
import type { PlannedWrite } from '../writes/write-kind.ts';
import { accessOf } from './face.ts';

/*
 * The native endpoints, called for a request of another standard: with its client, its care unit, its limits. They throw the
 * problems that they have natively.
 */

/** What a native endpoint is asked for. */
interface NativeInput<P extends TProperties, Q extends TProperties, B extends TSchema> {
  readonly params?: Static<TObject<P>>;
  readonly query?: Static<TObject<Q>>;
  readonly body?: Static<B>;
}

type Part = 'params' | 'querystring' | 'body';

/** The body of the response. */
export async function readNative<P extends TProperties, Q extends TProperties, B extends TSchema, Body extends object>(
  request: FastifyRequest,
  endpoint: ReadEndpoint<'care_unit', P, Q, B, Body>,
  input: NativeInput<P, Q, B>,
): Promise<Body> {
  return (await endpoint.handle(nativeInput(request, endpoint, input), request)).body;
}

export async function planNative<P extends TProperties, Q extends TProperties, B extends TSchema>(
  request: FastifyRequest,
  endpoint: WriteEndpoint<'care_unit', P, Q, B>,
  input: NativeInput<P, Q, B>,
): Promise<PlannedWrite> {
  return endpoint.plan(nativeInput(request, endpoint, input), request);
}

/** Whether the client may see resources of a FHIR type. */
export function shows(request: FastifyRequest, type: string): boolean {
  return maySeeResource(accessOf(request).client, type);
}

/** What was sent, if it fits a schema. @throws Problem `request_invalid` */
export function checked<Schema extends TSchema>(
  request: FastifyRequest,
  schema: Schema,
  sent: unknown,
  part: Part = 'body',
): Static<Schema> {
  const fits = request.getValidationFunction(schema) ?? request.compileValidationSchema(schema, part);
  if (!fits(sent as object)) throw validationProblem(fits.errors as ErrorObject[], part);
  return sent as Static<Schema>;
}

function nativeInput<P extends TProperties, Q extends TProperties, B extends TSchema>(
  request: FastifyRequest,
  endpoint: Declaration<'care_unit', P, Q, B>,
  { params, query, body }: NativeInput<P, Q, B>,
): Input<'care_unit', P, Q, B> {
  const schemas = schemasOf(endpoint);
  // A default of the schema is set in the copy.
  const sent = { params: { ...params }, querystring: { ...query }, body };
  for (const part of ['params', 'querystring', 'body'] as const) {
    const schema = schemas[part];
    if (schema) checked(request, schema, sent[part], part);
  }
  return inputOf(request, { params: sent.params, query: sent.querystring, body }) as Input<'care_unit', P, Q, B>;
}

interface Parts {
  readonly params?: TProperties;
  readonly query?: TProperties;
  readonly body?: TSchema;
}

const known = new WeakMap<Parts, Partial<Record<Part, TSchema>>>();

/** The schemas of an endpoint's parts. The same each time, because they are compiled once each. */
function schemasOf(endpoint: Parts): Partial<Record<Part, TSchema>> {
  const schemas = known.get(endpoint) ?? {
    params: Type.Object({ ...endpoint.params }),
    querystring: Type.Object({ ...endpoint.query }, { additionalProperties: false }),
    ...(endpoint.body && { body: endpoint.body }),
  };
  known.set(endpoint, schemas);
  return schemas;
}
