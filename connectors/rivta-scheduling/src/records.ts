import { type Reading, readRecord } from '@crossward/connector-kit/rest';
import { childrenOf, type XmlElement } from '@crossward/connector-kit/soap';
import type { Static, TObject } from 'typebox';

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
  return readRecord(schema, texts);
}
