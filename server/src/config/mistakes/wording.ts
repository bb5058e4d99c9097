import type { ErrorObject } from 'ajv';
import { isMapping, quoted } from './mistake.ts';
import { nearest } from './nearest.ts';

const kinds: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'empty',
};

/** Where the content of an empty value belongs. */
const contents: Readonly<Record<string, string>> = {
  object: 'indent its keys below it',
  array: 'begin each entry below it with "- "',
};

/** Says what is wrong with a value and what was expected. Quotes the value only if an enum was expected. */
export function describe(error: ErrorObject): string {
  const { keyword, data } = error;
  const params: Record<string, unknown> = error.params;
  const schema: Record<string, unknown> = error.parentSchema ?? {};
  const limit = Number(params.limit);
  switch (keyword) {
    case 'type':
      return describeType(data, [schema.type].flat().map(String), error.instancePath === '');
    case 'enum':
      return notOneOf(data, Array.isArray(params.allowedValues) ? params.allowedValues : []);
    case 'const':
      return notOneOf(data, [params.allowedValue]);
    case 'minimum':
    case 'maximum':
      return describeRange(schema);
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return `must have at least ${entries(limit)}`;
    case 'maxItems':
      return `must have at most ${entries(limit)}`;
    case 'uniqueItems':
      return 'is repeated in the list';
    case 'format':
      return `must be a valid ${String(params.format)}`;
    case 'pattern':
      return `must match the pattern ${String(params.pattern)}`;
    case 'anyOf':
    case 'oneOf':
      return 'matches none or more than one of the allowed forms';
    default:
      return error.message ?? 'is not valid';
  }
}

export function notOneOf(data: unknown, allowed: readonly unknown[]): string {
  const words = allowed.map(String);
  const expected = words.length === 1 ? `must be ${words[0]}` : `must be one of ${words.join(', ')}`;
  if (data === undefined || data === null) return expected;
  return typeof data === 'string' ? `${quoted(data)} is unknown; ${expected}${didYouMean(data, words)}` : expected;
}

/** A question to append, or an empty text. */
export function didYouMean(word: string, known: readonly string[]): string {
  const suggestion = nearest(word, known);
  return suggestion === undefined ? '' : `; did you mean "${suggestion}"?`;
}

/** @param place where the key belongs, if it is known elsewhere */
export function unknownKey(key: string, known: readonly string[], place?: string): string {
  if (place !== undefined) return `unknown key here; ${place}`;
  const suggestion = didYouMean(key, known);
  if (suggestion !== '') return `unknown key${suggestion}`;
  return known.length > 0 ? `unknown key; allowed: ${known.join(', ')}` : 'unknown key; no keys are allowed here';
}

export function missingKey(key: string, schema: unknown): string {
  const properties = isMapping(schema) && isMapping(schema.properties) ? schema.properties : {};
  const property = properties[key];
  const description = isMapping(property) && typeof property.description === 'string' ? property.description : '';
  return `the key "${key}" is missing${description === '' ? '' : `: ${description}`}`;
}

function describeType(data: unknown, expected: readonly string[], isWholeFile: boolean): string {
  const expectedKinds = expected.map((kind) => kinds[kind] ?? kind).join(' or ');
  const content = contents[String(expected[0])];
  if (data === null)
    return `is empty; must be ${expectedKinds}${content === undefined || isWholeFile ? '' : `: ${content}`}`;
  if (expected.includes('string') && (typeof data === 'number' || typeof data === 'boolean')) {
    return `must be text: put it in quotes`;
  }
  const actual = Array.isArray(data) ? 'array' : typeof data;
  const hint = actual === 'object' && expected[0] === 'array' ? ': begin each entry with "- "' : '';
  return `must be ${expectedKinds}, not ${kinds[actual] ?? actual}${hint}`;
}

function describeRange({ minimum, maximum }: Record<string, unknown>): string {
  if (minimum === undefined) return `must be at most ${String(maximum)}`;
  if (maximum === undefined) return `must be at least ${String(minimum)}`;
  return `must be from ${String(minimum)} to ${String(maximum)}`;
}

function entries(count: number): string {
  return count === 1 ? 'one entry' : `${count} entries`;
}
