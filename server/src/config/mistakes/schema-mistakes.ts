import type { ErrorObject } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import type { PartialFile } from '../rules/partial-file.ts';
import { type ConnectorSchema, configurationSchema } from '../schema/schema.ts';
import { misplaced } from './misplaced-keys.ts';
import { isMapping, type Mistake, type Path } from './mistake.ts';
import { choose, isUnion, withoutOtherBranches } from './unions.ts';
import { compile } from './validator.ts';
import { describe, missingKey, notOneOf, unknownKey } from './wording.ts';

export interface Validation {
  readonly mistakes: readonly Mistake[];
  /** Paths of values of the wrong type. */
  readonly mistyped: readonly Path[];
}

/** Validates a parsed file against the schema and describes the mistakes. */
export function validate(value: unknown, connectors: readonly ConnectorSchema[]): Validation {
  return validateAgainst(configurationSchema(connectors), value);
}

const checks = new WeakMap<TSchema, ReturnType<typeof compile>>();

/** As `validate`, for a part of the file. */
export function validateAgainst(schema: TSchema, value: unknown): Validation {
  // Ajv knows more about mistakes, but compiles the schema first, which takes as long as the rest of the start.
  if (Check(schema, value)) return { mistakes: [], mistyped: [] };
  // The schema itself is checked by a test, since that takes longer than everything else.
  const check = checks.get(schema) ?? compile(schema, { validateSchema: false });
  checks.set(schema, check);
  if (check(value)) return { mistakes: [], mistyped: [] };
  const errors = check.errors ?? [];
  return {
    mistakes: withoutOtherBranches(errors)
      .filter(({ keyword }) => keyword !== 'if' && keyword !== 'propertyNames')
      .map((error) => toMistake(error, pathOf(error.instancePath, value), schema)),
    mistyped: errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => pathOf(instancePath, value)),
  };
}

function toMistake(error: ErrorObject, path: Path, root: TSchema): Mistake {
  const params: Record<string, unknown> = error.params;
  const schema: Record<string, unknown> = error.parentSchema ?? {};
  if (error.propertyName !== undefined) {
    const text = typeof schema.errorMessage === 'string' ? schema.errorMessage : describe(error);
    return { path: [...path, error.propertyName], at: 'key', text };
  }
  const wantsQuotes = error.keyword === 'type' && schema.type === 'string';
  if (typeof schema.errorMessage === 'string' && !wantsQuotes) return { path, at: 'value', text: schema.errorMessage };

  const extra = params.additionalProperty ?? params.unevaluatedProperty;
  if (typeof extra === 'string') {
    const known = Object.keys(isMapping(schema.properties) ? schema.properties : {});
    return { path: [...path, extra], at: 'key', text: unknownKey(extra, known, misplaced(extra, path, root)) };
  }
  if (typeof params.missingProperty === 'string') {
    return { path, at: 'value', text: missingKey(params.missingProperty, schema) };
  }
  if (error.keyword === 'uniqueItems') {
    const second = Math.max(Number(params.i), Number(params.j));
    return { path: [...path, second], at: 'value', text: describe(error) };
  }
  if (isUnion(error)) return unionMistake(error, path);
  return { path, at: 'value', text: describe(error) };
}

function unionMistake(error: ErrorObject, path: Path): Mistake {
  const choice = choose(error);
  if (choice.kind === 'values') return { path, at: 'value', text: notOneOf(error.data, choice.values) };
  if (choice.kind === 'discriminator') {
    const value = isMapping(error.data) ? error.data[choice.key] : undefined;
    const text = notOneOf(value, choice.values);
    if (value === undefined) return { path, at: 'value', text: `the key "${choice.key}" is missing: ${text}` };
    return { path: [...path, choice.key], at: 'value', text };
  }
  if (!isMapping(error.data) && Array.isArray(error.schema) && error.schema.every(({ type }) => type === 'object')) {
    return { path, at: 'value', text: describe({ ...error, keyword: 'type', parentSchema: { type: 'object' } }) };
  }
  return { path, at: 'value', text: describe(error) };
}

/** Converts a JSON Pointer to keys and indices. The value decides whether a segment is a key or an index. */
function pathOf(pointer: string, value: unknown): Path {
  let current = value;
  return pointer
    .split('/')
    .slice(1)
    .map((part) => {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      const step = Array.isArray(current) ? Number(key) : key;
      current = (current as Record<string | number, unknown> | null | undefined)?.[step];
      return step;
    });
}

/** The file without values of the wrong type, so that the rules can check the rest. */
export function withoutMistyped(value: unknown, mistyped: readonly Path[]): PartialFile {
  if (mistyped.some((path) => path.length === 0)) return {};
  const copy = structuredClone(value);
  for (const path of mistyped) {
    const key = path.at(-1);
    const holder = path
      .slice(0, -1)
      .reduce<unknown>((current, part) => (current as Record<string | number, unknown> | undefined)?.[part], copy);
    if (key !== undefined && holder !== undefined) (holder as Record<string | number, unknown>)[key] = undefined;
  }
  return copy as PartialFile;
}
