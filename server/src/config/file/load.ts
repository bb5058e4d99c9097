import type { ConnectorModule } from '@crossward/connector-kit';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { readText } from '../../startup/read-text.ts';
import {
  type Configuration,
  type ConfiguredAccess,
  type ConfiguredEmr,
  deepFreeze,
  resolveAccess,
  resolveConfiguration,
  resolveEmr,
  resolveWebhooks,
} from '../configuration.ts';
import type { EnvironmentVariables } from '../environment/environment.ts';
import { formatPath, type Mistake, type Path } from '../mistakes/mistake.ts';
import { validate } from '../mistakes/schema-mistakes.ts';
import { type NamedConnectors, withPlugins } from '../plugins/plugins.ts';
import { declareTypesOf } from '../rules/identifier-type-rules.ts';
import type { PartialFile } from '../rules/partial-file.ts';
import { ruleMistakes, secretMistakes, unsetVariables } from '../rules/rules.ts';
import type { ConfigurationFile, ConnectorSchema } from '../schema/schema.ts';
import { type Position, parseYaml, type YamlFile } from './yaml-file.ts';

export interface ConfigurationSource {
  /** Path of the YAML file. Messages show it unchanged. */
  readonly path: string;
  /** The built-in connectors. The file may also name plug-ins. */
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
  return (await loadWithConnectors(source)).configuration;
}

/**
 * As `loadConfiguration`, with the connectors that the file can name: the built-in ones and its plug-ins.
 *
 * @throws {ConfigurationError} as `loadConfiguration` does
 */
export async function loadWithConnectors(
  source: ConfigurationSource,
): Promise<{ configuration: Configuration; connectors: readonly ConnectorModule[] }> {
  const { file, connectors } = await readChecked(source, (parts) => secretMistakes(parts, source.environment));
  return { configuration: resolveConfiguration(file, source.environment), connectors };
}

/** An EHR with the connector that it uses. */
export interface LoadedEmr {
  readonly emr: ConfiguredEmr;
  readonly module: ConnectorModule;
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
): Promise<LoadedEmr> {
  const { file, connectors, fail } = await readChecked(source, () => []);
  const id = choose(file.emrs.map((emr) => emr.id));
  const index = file.emrs.findIndex((emr) => emr.id === id);
  const emr = file.emrs[index];
  const module = connectors.find(({ name }) => name === emr?.connector);
  if (!emr || !module) throw new RangeError(`The configuration has no EHR ${id}.`);
  const mistakes = unsetVariables(emr, ['emrs', index], source.environment);
  if (mistakes.length > 0) throw fail(mistakes);
  return { emr: deepFreeze(resolveEmr(emr, source.environment)), module };
}

/** What a configuration file says about clients and their webhooks, without secrets. */
export type LoadedAccess = ConfiguredAccess &
  Pick<Configuration, 'webhooks'> & {
    /** Where operators reach the console. Absent: there is none. */
    readonly consoleUrl?: string;
  };

/**
 * Loads what a configuration file says about clients. Validates the whole file, but no secret must be set.
 *
 * @throws {ConfigurationError} as `loadConfiguration` does
 */
export async function loadAccess(source: ConfigurationSource): Promise<LoadedAccess> {
  const { emrs, clients, webhooks, console } = (await readChecked(source, () => [])).file;
  return {
    emrs,
    clients: clients.map((client) => resolveAccess(client, emrs)),
    webhooks: resolveWebhooks(webhooks),
    ...(console && { consoleUrl: console.url.replace(/\/+$/, '') }),
  };
}

interface CheckedFile {
  /** With the names of connectors in place of packages and files. */
  readonly file: ConfigurationFile;
  readonly connectors: readonly ConnectorModule[];
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
  declareTypesOf(yaml.value);
  const named = await withPlugins(yaml.value, path, connectors);
  const { mistakes, mistyped } = validate(yaml.value, schemasOf(named));
  const parts = without(yaml.value, mistyped);
  const all = [...named.mistakes, ...mistakes, ...ruleMistakes(parts), ...furtherMistakes(parts)];
  if (all.length > 0) throw fail(all);
  const file = withNames(yaml.value as ConfigurationFile, named);
  return { file, connectors: [...new Set(named.connectors.values())], fail };
}

/** Connectors with mistakes of their own accept any settings, so that one mistake is reported once. */
function schemasOf({ connectors, unusable }: NamedConnectors): ConnectorSchema[] {
  return [
    ...[...connectors].map(([name, { settingsSchema }]) => ({ name, settingsSchema })),
    ...unusable.map((name) => ({ name, settingsSchema: {} })),
  ];
}

function withNames(file: ConfigurationFile, { connectors }: NamedConnectors): ConfigurationFile {
  const emrs = file.emrs.map((emr) => ({ ...emr, connector: connectors.get(emr.connector)?.name ?? emr.connector }));
  return { ...file, emrs };
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
