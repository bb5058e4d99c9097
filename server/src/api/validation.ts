import type { ErrorObject } from 'ajv';
import type { FastifyInstance } from 'fastify';
import { type Fault, type Flaw, type Place, Problem } from '../problems/problem.ts';
import { escapedToken, isEchoable } from './json-pointer.ts';

type Part = 'body' | 'querystring' | 'params' | 'headers';

/** Maximum number of errors listed in one response. */
const mostFaults = 20;

/** Reports all that does not fit a schema in one response, each with its position. */
export function addValidation(app: FastifyInstance): void {
  app.setSchemaErrorFormatter((errors, part) => validationProblem(errors as ErrorObject[], part as Part));
}

/** The problem that says what does not fit a schema. */
export function validationProblem(errors: readonly ErrorObject[], part: Part): Problem {
  const relevant = withoutItemsOfOversized(closestBranch(errors));
  const faults = unique(relevant.map((error) => fault(error, part)));
  const [first] = faults;
  const more = faults.length - mostFaults;
  const detail = more > 0 ? `${first?.detail} ${more} more faults are not listed.` : first?.detail;
  return new Problem('request_invalid', { detail, faults: faults.slice(0, mostFaults) });
}

/** Keeps the errors of the `anyOf` branch that matches the properties sent best. Ajv reports those of every branch. */
function closestBranch(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const choice = errors.find(({ keyword }) => keyword === 'anyOf');
  if (!choice) return errors;
  const branches = Map.groupBy(
    errors.filter((error) => error !== choice),
    ({ schemaPath }) => /^#\/anyOf\/(\d+)\//.exec(schemaPath)?.[1] ?? schemaPath.split('/')[0] ?? '',
  );
  const ranked = [...branches.values()].sort((a, b) => mismatch(a) - mismatch(b));
  return ranked[0] ?? errors;
}

/** For an array or object that is too large, reports only that, and no errors of its items. */
function withoutItemsOfOversized(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const oversized = new Set(
    errors
      .filter(({ keyword }) => keyword === 'maxItems' || keyword === 'maxProperties')
      .map(({ instancePath }) => instancePath),
  );
  const isItem = ({ instancePath }: ErrorObject) => oversized.has(instancePath.slice(0, instancePath.lastIndexOf('/')));
  return oversized.size === 0 ? errors : errors.filter((error) => !isItem(error));
}

function mismatch(errors: readonly ErrorObject[]): number {
  const weights: Record<string, number> = { additionalProperties: 100, required: 10 };
  return errors.reduce((sum, { keyword }) => sum + (weights[keyword] ?? 1), 0);
}

function fault(error: ErrorObject, part: Part): Fault {
  const { property, detail } = wording(error);
  const path = property === undefined ? error.instancePath : `${error.instancePath}/${escapedToken(property)}`;
  const place = placeOf(part, path);
  return { place, reason: 'request_invalid', detail: `${placeName(place)} ${detail}.`, flaw: flawOf(error.keyword) };
}

function flawOf(keyword: string): Flaw {
  if (keyword === 'required' || keyword === 'dependentRequired' || keyword === 'minItems') return 'required';
  return keyword === 'type' || keyword === 'additionalProperties' ? 'structure' : 'value';
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
      return `The ${place.header} header`;
    default:
      return `The ${place.in} parameter ${place.parameter}`.trimEnd();
  }
}

/** Says what was expected, without quoting what was sent. */
function wording({ keyword, params, message }: ErrorObject): { property?: string; detail: string } {
  switch (keyword) {
    case 'additionalProperties':
      return isEchoable(params.additionalProperty)
        ? { property: params.additionalProperty, detail: 'is unknown' }
        : { detail: 'contains an unknown name' };
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
    case 'type':
      return { detail: `must be ${[params.type].flat().map(typeWording).join(' or ')}` };
    case 'format':
      return { detail: formatWording[params.format] ?? `must have the format ${params.format}` };
    default:
      return { detail: message ?? 'is not valid' };
  }
}

/** `an object`, `a string`, … for a type of JSON Schema. */
function typeWording(type: unknown): string {
  if (type === 'null') return 'null';
  return /^[aeiou]/.test(`${type}`) ? `an ${type}` : `a ${type}`;
}

const formatWording: Readonly<Record<string, string>> = {
  'date-time-or-local':
    'must be an RFC 3339 date-time, such as 2026-03-20T09:00:00+01:00 (local time if the offset is omitted)',
  date: 'must be a date YYYY-MM-DD',
  'local-date-time': 'must be a local date-time YYYY-MM-DDThh:mm:ss, without an offset',
  'care-unit-date-time': "must be a local date-time YYYY-MM-DDThh:mm:ss, with or without the care unit's offset",
  text: 'must be well-formed Unicode without NUL',
  line: 'must be well-formed Unicode on one line, without control characters',
  name: 'must be one line of visible text: not blank, and without characters that hide or reverse text',
  'phone-number': 'must be a phone number in the form of E.164 that is possible in its country, such as +46701740605',
  'email-address': 'must be an e-mail address',
  'text-with-content': 'must be well-formed Unicode without NUL, and must not be blank',
  'document-title': 'must be one line of visible text that is not a path',
};

function unique(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((it) => [it.detail, it])).values()];
}
