import { isDeepStrictEqual } from 'node:util';
import type { ConnectorModule } from '@crossward/connector-kit';
import Type from 'typebox';
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
import { formatPath, isMapping, type Mistake, quoted } from '../mistakes/mistake.ts';
import { validate, validateAgainst, withoutMistyped } from '../mistakes/schema-mistakes.ts';
import { type NamedConnectors, withPlugins } from '../plugins/plugins.ts';
import { declareTypesOf, identifierTypeMistakes } from '../rules/identifier-type-rules.ts';
import type { PartialFile } from '../rules/partial-file.ts';
import { ruleMistakes, secretMistakes, unsetVariables } from '../rules/rules.ts';
import { identifierTypesSchema } from '../schema/identifier-types.ts';
import type { ConfigurationFile, ConnectorSchema } from '../schema/schema.ts';
import { type Position, parseYaml, type YamlFile } from './yaml-file.ts';

export interface ConfigurationSource {
  /** Path of the YAML file. Messages show it unchanged. */
  readonly path: string;
  /** The built-in connectors. The file may also name plug-ins. */
  readonly connectors: readonly ConnectorModule[];
  /** Where `{ env: NAME }` is looked up, usually `process.env`. */
  readonly environment: EnvironmentVariables;
  /** Ids of the EHRs in the database, which the file cannot have too. Absent: they are not known. */
  readonly storedIds?: ReadonlySet<string>;
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

/** A configuration as it was read. */
export interface Loaded {
  readonly configuration: Configuration;
  /** Those that the file can name: the built-in ones and its plug-ins. */
  readonly connectors: readonly ConnectorModule[];
  /** As it is written, but with the names of connectors in place of packages and files. */
  readonly file: ConfigurationFile;
}

/**
 * As `loadConfiguration`, with the connectors that the file can name.
 *
 * @throws {ConfigurationError} as `loadConfiguration` does
 */
export async function loadWithConnectors(source: ConfigurationSource): Promise<Loaded> {
  const { file, connectors } = await readChecked(source, (parts) => secretMistakes(parts, source.environment));
  return { configuration: resolveConfiguration(file, source.environment), connectors, file };
}

/** What a running gateway can use of its file: EHRs and clients. All else is as it was. */
export interface Reloaded extends Loaded {
  /** Whether EHRs or clients are others than before. */
  readonly isChanged: boolean;
  /** Settings of the file that take effect at a restart, such as `http.public_url`. */
  readonly waiting: readonly string[];
}

/**
 * Loads the file of a running gateway again.
 *
 * @param running what the gateway uses
 * @throws {ConfigurationError} as `loadConfiguration` does, and if EHRs or clients need a setting that waits for a restart
 */
export async function loadAgain(source: ConfigurationSource, running: ConfigurationFile): Promise<Reloaded> {
  const further = (parts: PartialFile) => secretMistakes(parts, source.environment);
  const { file: written, connectors } = await readChecked(source, further, running);
  const { emrs, clients } = written;
  const file = { ...running, emrs, clients };
  return {
    configuration: resolveConfiguration(file, source.environment),
    connectors,
    file,
    isChanged: !isDeepStrictEqual([emrs, clients], [running.emrs, running.clients]),
    waiting: waitingSettings(running, written),
  };
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

/**
 * Loads a configuration file with the connectors that it can name. Validates the whole file, but no secret must be set.
 *
 * @throws {ConfigurationError} as `loadConfiguration` does
 */
export async function loadWithoutSecrets(source: ConfigurationSource): Promise<Omit<Loaded, 'configuration'>> {
  const { file, connectors } = await readChecked(source, () => []);
  return { file, connectors };
}

/**
 * Declares the types of identifiers in a file, for a program that uses nothing else of a configuration. The file may have no more.
 *
 * @throws {ConfigurationError} as `loadConfiguration` does
 */
export async function declareTypesIn(path: string): Promise<void> {
  const yaml = parseYaml(await readText(path));
  if ('mistakes' in yaml) throw errorOf(path, yaml.mistakes);
  const types = isMapping(yaml.value) ? yaml.value.identifier_types : undefined;
  const part = types === undefined ? {} : { identifier_types: types };
  const { mistakes, mistyped } = validateAgainst(Type.Object({ identifier_types: identifierTypesSchema }), part);
  const all = [...mistakes, ...identifierTypeMistakes(withoutMistyped(part, mistyped))];
  if (all.length > 0) throw errorOf(path, all.map(located(yaml)));
  declareTypesOf(part);
}

interface CheckedFile {
  /** With the names of connectors in place of packages and files. */
  readonly file: ConfigurationFile;
  readonly connectors: readonly ConnectorModule[];
  /** Makes an error with the positions of the mistakes in the file. */
  fail(mistakes: readonly Mistake[]): ConfigurationError;
}

/** @param running the file of the running gateway that this one is for. Absent: it is for a start */
async function readChecked(
  { path, connectors, storedIds }: ConfigurationSource,
  furtherMistakes: (parts: PartialFile) => readonly Mistake[],
  running?: ConfigurationFile,
): Promise<CheckedFile> {
  const text = await readText(path);
  if (text.trim() === '') throw new ConfigurationError([`${path}: is empty; it must define the EHRs and the clients`]);

  const yaml = parseYaml(text);
  if ('mistakes' in yaml) throw errorOf(path, yaml.mistakes);

  const fail = (mistakes: readonly Mistake[]) => errorOf(path, mistakes.map(located(yaml)));
  if (!running) declareTypesOf(yaml.value);
  const named = await withPlugins(yaml.value, path, connectors);
  const check = (value: unknown): readonly Mistake[] => {
    const { mistakes, mistyped } = validate(value, schemasOf(named));
    const parts = withoutMistyped(value, mistyped);
    return [...mistakes, ...ruleMistakes(parts), ...storedMistakes(parts, storedIds), ...furtherMistakes(parts)];
  };
  const all = [...named.mistakes, ...(running ? withItsTypes(yaml.value, running, check) : check(yaml.value))];
  if (all.length > 0) throw fail(all);
  if (running && waitingSettings(running, yaml.value as ConfigurationFile).length > 0) {
    const { emrs, clients } = yaml.value as ConfigurationFile;
    const clashes = check({ ...running, emrs, clients });
    if (clashes.length > 0) throw fail(clashes.map(waitsForRestart));
  }
  const file = withNames(yaml.value as ConfigurationFile, named);
  return { file, connectors: [...new Set(named.connectors.values())], fail };
}

function storedMistakes({ emrs = [] }: PartialFile, stored: ReadonlySet<string> = new Set()): Mistake[] {
  return emrs.flatMap((emr, index): Mistake[] => {
    if (emr?.id === undefined || !stored.has(emr.id)) return [];
    const text = `the database has an EHR with the id ${quoted(emr.id)}; an id is in one place only`;
    return [{ path: ['emrs', index, 'id'], at: 'value', text }];
  });
}

/** Checks a file with the types of identifiers that it declares, and gives the gateway its own ones back before it works on. */
function withItsTypes<Result>(value: unknown, running: ConfigurationFile, check: (value: unknown) => Result): Result {
  declareTypesOf(value);
  try {
    return check(value);
  } finally {
    declareTypesOf(running);
  }
}

/** A mistake that the file has only for a gateway whose other settings are still the former ones. */
function waitsForRestart({ text, ...mistake }: Mistake): Mistake {
  return { ...mistake, text: `${text} (with the other settings of the running gateway, which change at a restart)` };
}

/** Settings other than EHRs and clients that differ. */
function waitingSettings(running: ConfigurationFile, written: ConfigurationFile): string[] {
  const [before, after] = [running, written].map(
    ({ emrs: _, clients: __, services: ___, ...rest }) => rest as Record<string, unknown>,
  );
  return differences(before, after).flatMap((section) => {
    const parts = [before?.[section], after?.[section]].map((it) => (isMapping(it) ? it : undefined));
    return parts.some((it) => it) ? differences(...parts).map((key) => `${section}.${key}`) : section;
  });
}

function differences(before: Record<string, unknown> = {}, after: Record<string, unknown> = {}): string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.filter((key) => !isDeepStrictEqual(before[key], after[key]));
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
