import type { Static, TObject } from 'typebox';
import { Check, Errors } from 'typebox/value';
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
  if (Check(schema, texts)) return { record: texts };
  const [error] = Errors(schema, texts);
  const missing = error?.keyword === 'required' ? error.params.requiredProperties : [];
  return { path: [error?.instancePath ?? '', ...missing.slice(0, 1)].join('/') };
}
