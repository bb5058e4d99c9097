import { type Options, SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import type { FastifyServerOptions } from 'fastify';
import { once } from '../once.ts';
import { formats } from './formats.ts';

type Validate = ReturnType<Ajv2020['compile']>;
type Serialize = (data: unknown) => string;
type Compiled = Validate | Serialize;
type CompilersFactory = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

/**
 * A function that is compiled from its schema when it is first called. Compiling all of them would take most of a start, and
 * a gateway uses few of them.
 */
export interface Lazy<Function extends Compiled = Compiled> {
  (data: unknown): ReturnType<Function>;
  /** Set by a validator that returned `false`, as Ajv does. */
  errors?: Validate['errors'];
  /** Throws if the schema is wrong. */
  compile(): Function;
}

/** Compiles the schemas of the endpoints. The cast is needed because Fastify types the compilers as overloads. */
export const compilersFactory = { buildValidator, buildSerializer } as unknown as Required<CompilersFactory>;

/** Bodies are validated as they are. Path and query parameters are text and are coerced to the type in their schema. */
function buildValidator(schemas: Readonly<Record<string, AnySchema | AnySchema[]>>) {
  const common = {
    allErrors: true,
    removeAdditional: false,
    useDefaults: true,
    strict: false,
    strictNumbers: true,
    formats,
    // The lint of the OpenAPI document checks the schemas, since checking them here is slow.
    validateSchema: false,
  } as const;
  const ajv = (coerceTypes: false | 'array') => once(() => new Ajv2020({ ...common, coerceTypes }).addSchema(all));
  const all = Object.values(schemas).flat();
  const strict = ajv(false);
  const coercing = ajv('array');
  return ({ schema, httpPart }: { schema: AnySchema; httpPart?: string }) =>
    lazy<Validate>(() => (httpPart === 'body' ? strict() : coercing()).compile(schema));
}

/** Uses a compiler for each schema, because a compiler removes the schemas that it has compiled from those it can refer to. */
function buildSerializer(schemas: unknown, options?: Options) {
  return (route: Parameters<ReturnType<ReturnType<typeof SerializerSelector>>>[0]) =>
    lazy<Serialize>(() => SerializerSelector()(schemas, options)(route));
}

function lazy<Function extends Compiled>(build: () => Function): Lazy<Function> {
  const compile = once(build);
  const run: Lazy<Function> = Object.assign(
    (data: unknown) => {
      const compiled = compile();
      const result = compiled(data);
      if ('errors' in compiled) run.errors = compiled.errors;
      return result as ReturnType<Function>;
    },
    { compile },
  );
  return run;
}
