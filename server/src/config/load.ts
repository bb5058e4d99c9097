import type { ConnectorModule } from '@crossward/connector-kit';
import { type Configuration, resolveConfiguration } from './configuration.ts';
import { ConfigurationError } from './configuration-error.ts';
import type { EnvironmentVariables } from './environment.ts';
import { formatPath, type Mistake, type Path } from './mistake.ts';
import { readText } from './read-text.ts';
import { type PartialFile, ruleMistakes } from './rules.ts';
import type { ConfigurationFile } from './schema.ts';
import { validate } from './schema-mistakes.ts';
import { type Position, parseYaml, type YamlFile } from './yaml-file.ts';

export interface ConfigurationSource {
  /** Of the YAML file; messages show it as it is given. */
  readonly path: string;
  /** Every kind of EHR that the file may name. */
  readonly connectors: readonly ConnectorModule[];
  /** Where `{ env: NAME }` is looked up, most often `process.env`. */
  readonly environment: EnvironmentVariables;
}

/**
 * Reads and checks a configuration file (YAML 1.2; `configurationSchema` has its shape).
 *
 * @throws {ConfigurationError} with every mistake, each as `file:line:column: path: what is wrong, what was expected`.
 * Values of secrets are never shown.
 */
export async function loadConfiguration(source: ConfigurationSource): Promise<Configuration> {
  const { path, connectors, environment } = source;
  const text = await readText(path);
  if (text.trim() === '') throw new ConfigurationError([`${path}: is empty; it must name the EHRs and the clients`]);

  const yaml = parseYaml(text);
  if ('mistakes' in yaml) throw errorOf(path, yaml.mistakes);

  const { mistakes, mistyped } = validate(yaml.value, connectors);
  const rules = ruleMistakes(without(yaml.value, mistyped), environment);
  if (mistakes.length + rules.length > 0) throw errorOf(path, [...mistakes, ...rules].map(located(yaml)));
  return resolveConfiguration(yaml.value as ConfigurationFile, environment);
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

/** What is left when everything of the wrong type is taken out, so that the rules see the rest. */
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
