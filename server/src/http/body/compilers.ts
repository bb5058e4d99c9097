import { isEmailAddress, reachableNumber } from '@crossward/connector-kit';
import { type Options, SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { isTitle } from '../../documents/title.ts';
import { hidesText } from '../../identifiers/hidden-text.ts';
import { isCareUnitDateTime, isDateTime, isLocalDateTime } from '../../time/date-times.ts';

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
  const all = Object.values(schemas).flat();
  let strict: Ajv2020 | undefined;
  let coercing: Ajv2020 | undefined;
  return ({ schema, httpPart }: { schema: AnySchema; httpPart?: string }) =>
    lazy<Validate>(() => {
      strict ??= new Ajv2020(common).addSchema(all);
      coercing ??= new Ajv2020({ ...common, coerceTypes: 'array' }).addSchema(all);
      return (httpPart === 'body' ? strict : coercing).compile(schema);
    });
}

/** Uses a compiler for each schema, because a compiler removes the schemas that it has compiled from those it can refer to. */
function buildSerializer(schemas: unknown, options?: Options) {
  return (route: Parameters<ReturnType<ReturnType<typeof SerializerSelector>>>[0]) =>
    lazy<Serialize>(() => SerializerSelector()(schemas, options)(route));
}

/** Prepares what Ajv would coerce in another way. */
export function addQueryTypes(app: FastifyInstance): void {
  app.addHook('preValidation', (request, _reply, done) => {
    const query = request.query as Record<string, unknown>;
    const schemas: Readonly<Record<string, { readonly type?: unknown; readonly format?: unknown }>> =
      request.routeOptions.config.endpoint?.query ?? {};
    for (const [name, value] of Object.entries(query)) {
      if (typeof value !== 'string') continue;
      const { type, format } = schemas[name] ?? {};
      if (type === 'integer') query[name] = integer(value);
      else if (format === 'date-time-or-local') query[name] = withPlus(value);
    }
    done();
  });
}

/** Accepts decimal digits only. Ajv would also accept `0x10`, `1e2` and ` 5`; it rejects NaN. */
function integer(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** An unencoded `+` in a query arrives as a space: `2026-03-20T09:00:00 01:00`. */
function withPlus(text: string): string {
  return text.replace(/^(\S+T\d{2}:\d{2}:\d{2}(?:\.\d+)?) (\d{2}:\d{2})$/i, '$1+$2');
}

function lazy<Function extends Compiled>(build: () => Function): Lazy<Function> {
  let compiled: Function | undefined;
  const compile = () => {
    compiled ??= build();
    return compiled;
  };
  const run: Lazy<Function> = Object.assign(
    (data: unknown) => {
      const check = compile();
      const result = check(data);
      if ('errors' in check) run.errors = check.errors;
      return result as ReturnType<Function>;
    },
    { compile },
  );
  return run;
}

/** String formats, for both validation and serialisation. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isDateTime,
  /** For requests. Differs from `date-time`, which requires an offset in OpenAPI. */
  'date-time-or-local': isDateTime,
  /** RFC 3339, full-date. */
  date: (text) => isLocalDateTime(`${text}T00:00:00`),
  'local-date-time': isLocalDateTime,
  'care-unit-date-time': isCareUnitDateTime,
  /** Unicode that any database can store: no NUL and no lone surrogate. */
  'document-title': isTitle,
  text: isText,
  /** `text` on one line, without control characters. */
  line: (text) => isText(text) && !/\p{Cc}/u.test(text),
  /** `line` that is not blank, and shows all that it holds. */
  name: (text) => isText(text) && !hidesText(text) && /\S/.test(text),
  /** E.164, of a length that numbers of its country have. */
  'phone-number': (text) => /^\+[1-9][0-9]{6,14}$/.test(text) && reachableNumber(text) === text,
  'email-address': isEmailAddress,
  /** `text` that is not blank. */
  'text-with-content': (text) => isText(text) && /\S/.test(text),
};

function isText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
