import type { ConnectorModule } from '@crossward/connector-kit';
import Type, { type TSchema } from 'typebox';
import { type ConfiguredEmr, deepFreeze, type EmrInFile, resolveEmr } from './configuration.ts';
import { isReference } from './environment/references.ts';
import { formatPath, isMapping, type Mistake } from './mistakes/mistake.ts';
import { validateAgainst, withoutMistyped } from './mistakes/schema-mistakes.ts';
import type { PartialFile } from './rules/partial-file.ts';
import { ruleMistakes } from './rules/rules.ts';
import { emrInFileSchema } from './schema/schema.ts';

/** The settings of a gateway that those of an EHR depend on. */
export type AroundEmrs = Pick<PartialFile, 'messages' | 'http'>;

/** The path of an EHR whose mistakes are looked for: as if it were the only one of a file. */
export const onlyEmr = ['emrs', 0] as const;

const schemas = new WeakMap<readonly ConnectorModule[], TSchema>();

/** The same one each time, because a schema is compiled once. */
function schemaWith(connectors: readonly ConnectorModule[]): TSchema {
  const schema = schemas.get(connectors) ?? Type.Object({ emrs: Type.Array(emrInFileSchema(connectors)) });
  schemas.set(connectors, schema);
  return schema;
}

/**
 * What is wrong with an EHR that is not in the configuration file: the rules are those of the file. Paths begin with `onlyEmr`.
 *
 * @param connectors those that it can name
 */
export function emrMistakes(
  emr: unknown,
  around: AroundEmrs,
  connectors: readonly ConnectorModule[],
): readonly Mistake[] {
  const file = { emrs: [emr] };
  const { mistakes, mistyped } = validateAgainst(schemaWith(connectors), file);
  const parts = { ...around, ...withoutMistyped(file, mistyped), clients: [] };
  return [...mistakes, ...ruleMistakes(parts).filter(({ path }) => path[0] === 'emrs')];
}

/** A mistake in one line, with its place within the EHR. */
export function emrMistakeText({ path, text }: Mistake): string {
  const place = formatPath(path.slice(onlyEmr.length));
  return place === '' ? text : `${place}: ${text}`;
}

/** The names of the secrets in the definition of an EHR, `{ env: NAME }`, each once. */
export function secretNames(definition: unknown): readonly string[] {
  if (isReference(definition)) return [definition.env];
  const values = Array.isArray(definition) ? definition : isMapping(definition) ? Object.values(definition) : [];
  return [...new Set(values.flatMap(secretNames))];
}

/** Applies defaults and gives an EHR without mistakes its secrets. */
export function configuredEmr(definition: unknown, secrets: Readonly<Record<string, string>>): ConfiguredEmr {
  return deepFreeze(resolveEmr(definition as EmrInFile, secrets));
}
