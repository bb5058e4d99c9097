import { isMapping } from '../mistakes/mistake.ts';
import type { EnvironmentReference } from '../schema/schema-parts.ts';
import type { EnvironmentVariables } from './environment.ts';
import { Secret } from './secret.ts';

/** Minimum length of a client secret from the environment, in characters. */
export const minimumSecretLength = 32;

/** `T` with a `Secret` for every reference to the environment. */
export type WithSecrets<T> = T extends EnvironmentReference
  ? Secret
  : T extends readonly (infer Item)[]
    ? readonly WithSecrets<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: WithSecrets<T[Key]> }
      : T;

/** Whether the value is `{ env: NAME }`. */
export function isReference(value: unknown): value is EnvironmentReference {
  return (
    isMapping(value) &&
    Object.keys(value).length === 1 &&
    typeof value.env === 'string' &&
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(value.env)
  );
}

/** The value of the variable; `undefined` if it is not set. */
export function variable(reference: EnvironmentReference, variables: EnvironmentVariables): string | undefined {
  return Object.hasOwn(variables, reference.env) ? variables[reference.env] : undefined;
}

/** A copy with all references resolved. Every variable must be set. */
export function withSecrets<T>(value: T, variables: EnvironmentVariables): WithSecrets<T>;
export function withSecrets(value: unknown, variables: EnvironmentVariables): unknown {
  if (isReference(value)) return new Secret(variable(value, variables) ?? '');
  if (Array.isArray(value)) return value.map((item) => withSecrets(item, variables));
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withSecrets(item, variables)]));
}
