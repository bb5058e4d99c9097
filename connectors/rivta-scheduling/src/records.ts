import type { Static, TObject } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Errors } from 'typebox/value';
import { childrenOf, type XmlElement } from './xml.ts';

/** A record, or where it cannot be read: a JSON Pointer. */
export type Reading<Found> =
  | { readonly record: Found; readonly path?: undefined }
  | { readonly record?: undefined; readonly path: string };

/**
 * The texts of a record by the names that the schema has. Empty elements are absent. One that is repeated, or has others in it,
 * fits no schema of a text.
 */
export function readTexts<Schema extends TObject>(
  element: XmlElement,
  namespace: string,
  schema: Schema,
): Reading<Static<Schema>> {
  const texts: Record<string, unknown> = {};
  for (const name of Object.keys(schema.properties)) {
    const found = childrenOf(element, namespace, name).map(({ text, children }) => (children.length > 0 ? null : text));
    if (found.length > 1) texts[name] = found;
    else if (found[0] !== undefined && found[0] !== '') texts[name] = found[0];
  }
  if (validatorOf(schema).Check(texts)) return { record: texts as Static<Schema> };
  const [error] = Errors(schema, texts);
  const missing = error?.keyword === 'required' ? error.params.requiredProperties : [];
  return { path: [error?.instancePath ?? '', ...missing.slice(0, 1)].join('/') };
}

const validators = new WeakMap<TObject, Validator>();

/** Compiled at its first use: a list can have thousands of records. */
function validatorOf(schema: TObject): Validator {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  return validator;
}
