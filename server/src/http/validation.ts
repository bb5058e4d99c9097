import { Ajv2020, type AnySchema, type ErrorObject } from 'ajv/dist/2020.js';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { type Fault, type Place, Problem } from '../problems/problem.ts';
import { isDateTime, isLocalDateTime } from '../time/date-times.ts';
import { escaped, isSpeakable } from './json-pointer.ts';

/** Formats of the schemas, for validation and for the serialiser alike. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isDateTime,
  /** What requests may say. Apart from `date-time`, which in OpenAPI has an offset. */
  'date-time-or-local': isDateTime,
  'local-date-time': isLocalDateTime,
  /** Unicode that every database can keep: no NUL and no half of a surrogate pair. */
  text: (text) => !text.includes('\0') && text.isWellFormed(),
};

type ValidatorCompiler = (route: { schema: AnySchema; httpPart?: string }) => ReturnType<Ajv2020['compile']>;
type CompilersFactory = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

/** Fastify's type of a compiler is an overload that a plain function does not match. */
export const compilersFactory = { buildValidator: buildValidatorCompiler } as unknown as CompilersFactory;

type Part = 'body' | 'querystring' | 'params' | 'headers';

/** Bodies are taken as they are; path and query parameters, which are all text, become what their schema says. */
function buildValidatorCompiler(schemas: Readonly<Record<string, AnySchema | AnySchema[]>>): ValidatorCompiler {
  const common = {
    allErrors: true,
    removeAdditional: false,
    useDefaults: true,
    strict: false,
    strictNumbers: true,
    formats,
    // Half a second of each start. The schemas are the project's own: the lint of the OpenAPI document checks them.
    validateSchema: false,
  } as const;
  const strict = new Ajv2020({ ...common, coerceTypes: false });
  const coercing = new Ajv2020({ ...common, coerceTypes: 'array' });
  for (const ajv of [strict, coercing]) ajv.addSchema(Object.values(schemas).flat());
  return ({ schema, httpPart }) => (httpPart === 'body' ? strict : coercing).compile(schema);
}

/** Of the faults of a request that many are told: whoever has more to put right has something else to put right. */
const mostFaults = 20;

/** Tells the faults of an invalid request at once, each with its place. */
export function addValidation(app: FastifyInstance): void {
  app.setSchemaErrorFormatter((errors, part) => {
    const told = withoutPartsOfTooMany(branchMeant(errors as ErrorObject[]));
    const faults = unique(told.map((error) => fault(error, part as Part)));
    const [first] = faults;
    const more = faults.length - mostFaults;
    const detail = more > 0 ? `${first?.detail} ${more} more faults are not listed.` : first?.detail;
    return new Problem('request_invalid', { detail, faults: faults.slice(0, mostFaults) });
  });
  app.addHook('preValidation', async (request) => {
    const query = request.query as Record<string, unknown>;
    const schemas: Readonly<Record<string, { readonly type?: unknown }>> =
      request.routeOptions.config.operation?.query ?? {};
    for (const [name, value] of Object.entries(query)) {
      if (typeof value === 'string') query[name] = schemas[name]?.type === 'integer' ? integer(value) : withPlus(value);
    }
  });
}

/** Decimal digits. Ajv would take what JavaScript reads as a number, such as `0x10`, `1e2` and ` 5`; it takes no NaN. */
function integer(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** An unencoded `+` in a query arrives as a space: `2026-03-20T09:00:00 01:00`. */
function withPlus(text: string): string {
  return text.replace(/^(\S+T\d{2}:\d{2}:\d{2}(?:\.\d+)?) (\d{2}:\d{2})$/i, '$1+$2');
}

/**
 * Of a choice (`anyOf`) every branch reports. Kept are the errors of the branch that fits best: the one that knows the
 * properties that were sent.
 */
function branchMeant(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const choice = errors.find(({ keyword }) => keyword === 'anyOf');
  if (!choice) return errors;
  const branches = Map.groupBy(
    errors.filter((error) => error !== choice),
    ({ schemaPath }) => /^#\/anyOf\/(\d+)\//.exec(schemaPath)?.[1] ?? schemaPath.split('/')[0] ?? '',
  );
  const ranked = [...branches.values()].sort((a, b) => strangeness(a) - strangeness(b));
  return ranked[0] ?? errors;
}

/** Of a list or an object that is too large, that alone: what is wrong with its parts is beside the point. */
function withoutPartsOfTooMany(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const tooMany = new Set(
    errors
      .filter(({ keyword }) => keyword === 'maxItems' || keyword === 'maxProperties')
      .map(({ instancePath }) => instancePath),
  );
  const isPart = ({ instancePath }: ErrorObject) => tooMany.has(instancePath.slice(0, instancePath.lastIndexOf('/')));
  return tooMany.size === 0 ? errors : errors.filter((error) => !isPart(error));
}

function strangeness(errors: readonly ErrorObject[]): number {
  const weights: Record<string, number> = { additionalProperties: 100, required: 10 };
  return errors.reduce((sum, { keyword }) => sum + (weights[keyword] ?? 1), 0);
}

function fault(error: ErrorObject, part: Part): Fault {
  const { property, detail } = wording(error);
  const path = property === undefined ? error.instancePath : `${error.instancePath}/${escaped(property)}`;
  const place = placeOf(part, path);
  return { place, reason: 'request_invalid', detail: `${placeName(place)} ${detail}.` };
}

function placeOf(part: Part, pointer: string): Place {
  if (part === 'body') return { in: 'body', pointer };
  const parameter = pointer.split('/')[1] ?? '';
  if (part === 'headers') return { in: 'header', header: parameter };
  return { in: part === 'params' ? 'path' : 'query', parameter };
}

function placeName(place: Place): string {
  switch (place.in) {
    case 'body':
      return place.pointer === '' ? 'The body' : place.pointer;
    case 'header':
      return `The header ${place.header}`;
    default:
      return `The ${place.in} parameter ${place.parameter}`.trimEnd();
  }
}

/** What was expected, without a word of what was sent. */
function wording({ keyword, params, message }: ErrorObject): { property?: string; detail: string } {
  switch (keyword) {
    case 'additionalProperties':
      return isSpeakable(params.additionalProperty)
        ? { property: params.additionalProperty, detail: 'is not known' }
        : { detail: 'has a name that is not known' };
    case 'required':
      return { property: params.missingProperty, detail: 'is missing' };
    case 'dependentRequired':
      return { property: params.missingProperty, detail: `must be sent together with ${params.property}` };
    case 'minProperties':
      return { detail: 'must not be empty' };
    case 'enum':
      return { detail: `must be one of ${params.allowedValues.map(String).join(', ')}` };
    case 'const':
      return { detail: `must be ${String(params.allowedValue)}` };
    case 'format':
      return { detail: formatWording[params.format] ?? `must be of the format ${params.format}` };
    default:
      return { detail: message ?? 'is not valid' };
  }
}

const formatWording: Readonly<Record<string, string>> = {
  'date-time-or-local':
    'must be an RFC 3339 date-time, such as 2026-03-20T09:00:00+01:00 (without an offset: local time)',
  'local-date-time': 'must be a local date-time YYYY-MM-DDThh:mm:ss, without an offset',
  text: 'must be well-formed Unicode without NUL',
};

function unique(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((it) => [it.detail, it])).values()];
}
