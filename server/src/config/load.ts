import type { ConnectorModule } from '@crossward/connector-kit';
import { ConfigurationError } from '../startup/configuration-error.ts';
import { readText } from '../startup/read-text.ts';
import {
  type Configuration,
  type ConfiguredEmr,
  deepFreeze,
  resolveConfiguration,
  resolveEmr,
} from './configuration.ts';
import type { EnvironmentVariables } from './environment.ts';
import { formatPath, type Mistake, type Path } from './mistake.ts';
import type { PartialFile } from './partial-file.ts';
import { ruleMistakes, secretMistakes, unsetVariables } from './rules.ts';
import type { ConfigurationFile } from './schema.ts';
import { validate } from './schema-mistakes.ts';
import { type Position, parseYaml, type YamlFile } from './yaml-file.ts';

export interface ConfigurationSource {
  /** Path of the YAML file. Messages show it unchanged. */
  readonly path: string;
  /** The connectors that the file may name. */
  readonly connectors: readonly ConnectorModule[];
  /** Where `{ env: NAME }` is looked up, usually `process.env`. */
  readonly environment: EnvironmentVariables;
}

/**
 * Reads and validates a configuration file (YAML 1.2, described by `configurationSchema`).
 *
 * @throws {ConfigurationError} with every mistake as `file:line:column: path: what is wrong, what was expected`, never
 * with a secret
 */
export async function loadConfiguration(source: ConfigurationSource): Promise<Configuration> {
  const { file } = await readChecked(source, (parts) => secretMistakes(parts, source.environment));
  return resolveConfiguration(file, source.environment);
}

/**
 * Loads one EHR of a configuration file. Validates the whole file, but only the secrets of this EHR must be set.
 *
 * @param choose picks one of the ids; its errors are passed on
 * @throws {ConfigurationError} as `loadConfiguration` does
 */
export async function loadEmr(
  source: ConfigurationSource,
  choose: (ids: readonly string[]) => string,
): Promise<ConfiguredEmr> {
  const { file, fail } = await readChecked(source, () => []);
  const id = choose(file.emrs.map((emr) => emr.id));
  const index = file.emrs.findIndex((emr) => emr.id === id);
  const emr = file.emrs[index];
  if (!emr) throw new RangeError(`The configuration has no EHR ${id}.`);
  const mistakes = unsetVariables(emr, ['emrs', index], source.environment);
  if (mistakes.length > 0) throw fail(mistakes);
  return deepFreeze(resolveEmr(emr, source.environment));
}

interface CheckedFile {
  readonly file: ConfigurationFile;
  /** Makes an error with the positions of the mistakes in the file. */
  fail(mistakes: readonly Mistake[]): ConfigurationError;
}

async function readChecked(
  { path, connectors }: ConfigurationSource,
  furtherMistakes: (parts: PartialFile) => readonly Mistake[],
): Promise<CheckedFile> {
  const text = await readText(path);
  if (text.trim() === '') throw new ConfigurationError([`${path}: is empty; it must define the EHRs and the clients`]);

  const yaml = parseYaml(text);
  if ('mistakes' in yaml) throw errorOf(path, yaml.mistakes);

  const fail = (mistakes: readonly Mistake[]) => errorOf(path, mistakes.map(located(yaml)));
  const { mistakes, mistyped } = validate(yaml.value, connectors);
  const parts = without(yaml.value, mistyped);
  const all = [...mistakes, ...ruleMistakes(parts), ...furtherMistakes(parts)];
  if (all.length > 0) throw fail(all);
  return { file: yaml.value as ConfigurationFile, fail };
}

function located(yaml: YamlFile) {
  return ({ path, at, text }: Mistake) => ({
    position: yaml.locate(path, at),
    text: path.length === 0 ? text : `${formatPath(path)}: ${text}`,
  });
}

function errorOf(path: string, mistakes: readonly { position: Position; text: string }[]): ConfigurationError {
  const lines = mistakes
    .toSorted((a, b) => a.position.line - b.position.line || a.position.column - b.position.column)
    .map(({ position, text }) => `${path}:${position.line}:${position.column}: ${text}`);
  return new ConfigurationError([...new Set(lines)]);
}

/** The file without values of the wrong type, so that the rules can check the rest. */
function without(value: unknown, mistyped: readonly Path[]): PartialFile {
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
