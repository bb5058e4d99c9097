import type { ErrorObject } from 'ajv';
import { isMapping } from './mistake.ts';

/** The branch of a union (`anyOf`, `oneOf`) that the data most likely intends. */
type Choice =
  | { readonly kind: 'branch'; readonly index: number }
  | { readonly kind: 'discriminator'; readonly key: string; readonly values: readonly unknown[] }
  | { readonly kind: 'values'; readonly values: readonly unknown[] }
  | { readonly kind: 'none' };

export function isUnion(error: ErrorObject): boolean {
  return error.keyword === 'anyOf' || error.keyword === 'oneOf';
}

/** For each failed union, keeps the errors of the intended branch, or one error for the union if none is clear. */
export function withoutOtherBranches(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = errors.filter(isUnion).map((union) => ({ union, choice: choose(union) }));
  return errors.filter((error) =>
    unions.every(({ union, choice }) => {
      if (error === union) return choice.kind !== 'branch';
      const inside =
        error.schemaPath.startsWith(`${union.schemaPath}/`) &&
        (error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`));
      if (!inside) return true;
      return choice.kind === 'branch' && error.schemaPath.startsWith(`${union.schemaPath}/${choice.index}/`);
    }),
  );
}

/** Finds the branch by a constant property, otherwise by a key that only one branch has. */
export function choose(union: ErrorObject): Choice {
  const branches: readonly unknown[] = Array.isArray(union.schema) ? union.schema : [];
  const constants = branches.map(constantsOf);
  if (constants.every((values) => values.length > 0)) return { kind: 'values', values: constants.flat() };

  const { data } = union;
  if (!isMapping(data)) return { kind: 'none' };
  const properties = branches.map((branch) =>
    isMapping(branch) && isMapping(branch.properties) ? branch.properties : {},
  );
  const key = Object.keys(properties[0] ?? {}).find((name) =>
    properties.every((branch) => constantsOf(branch[name]).length > 0),
  );
  if (key !== undefined) {
    const index = properties.findIndex((branch) => constantsOf(branch[key]).includes(data[key]));
    if (index >= 0) return { kind: 'branch', index };
    return { kind: 'discriminator', key, values: properties.flatMap((branch) => constantsOf(branch[key])) };
  }

  const meant = properties.flatMap((branch, index) =>
    Object.keys(branch).some((name) => name in data) ? [index] : [],
  );
  const [index] = meant;
  return meant.length === 1 && index !== undefined ? { kind: 'branch', index } : { kind: 'none' };
}

function constantsOf(schema: unknown): readonly unknown[] {
  if (!isMapping(schema)) return [];
  if ('const' in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : [];
}
