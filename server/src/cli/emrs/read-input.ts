import { text } from 'node:stream/consumers';
import { parseYaml, type YamlFile } from '../../config/file/yaml-file.ts';
import { formatPath, isMapping, type Mistake, type Path } from '../../config/mistakes/mistake.ts';
import type { SecretsByName } from '../../ehr/stored/stored-emrs.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { readText } from '../../startup/read-text.ts';
import { UsageError } from '../exit-codes.ts';
import type { Output } from '../output.ts';

/** An EHR as somebody has written it, with mistakes or without. */
export interface WrittenEmr {
  readonly definition: unknown;
  /** Makes an error with the positions of the mistakes, whose paths begin with `onlyEmr`. */
  fail(mistakes: readonly Mistake[]): ConfigurationError;
}

/** Standard input is named so in messages. */
const stdin = '-';

async function read(output: Output, path: string): Promise<{ name: string; yaml: YamlFile }> {
  const name = path === stdin ? 'standard input' : path;
  const written = path === stdin ? await text(output.input) : await readText(path);
  if (written.trim() === '') throw new ConfigurationError([`${name}: is empty`]);
  const yaml = parseYaml(written);
  if (!('mistakes' in yaml)) return { name, yaml };
  throw new ConfigurationError(
    yaml.mistakes.map(({ position: { line, column }, text: what }) => `${name}:${line}:${column}: ${what}`),
  );
}

/**
 * Reads EHRs from YAML or JSON: one EHR, or `emrs` with a list of them, as in the configuration file and as `emr export` prints them.
 *
 * @throws {ConfigurationError} if it is neither
 */
export async function readEmrs(output: Output, path: string): Promise<readonly WrittenEmr[]> {
  const { name, yaml } = await read(output, path);
  const { value } = yaml;
  const written = (definition: unknown, place: Path): WrittenEmr => ({
    definition,
    fail: (mistakes) =>
      new ConfigurationError(
        mistakes.map(({ path: full, at, text: what }) => {
          const within = [...place, ...full.slice(2)];
          const { line, column } = yaml.locate(within, at);
          return `${name}:${line}:${column}: ${within.length === 0 ? '' : `${formatPath(within)}: `}${what}`;
        }),
      ),
  });
  if (!isMapping(value) || !('emrs' in value)) return [written(value, [])];
  const { emrs, ...rest } = value;
  const [other] = Object.keys(rest);
  if (other !== undefined || !Array.isArray(emrs) || emrs.length === 0) {
    throw new ConfigurationError([
      `${name}: must be one EHR, or "emrs" with a list of EHRs and nothing else${other === undefined ? '' : `, not ${other}`}`,
    ]);
  }
  return emrs.map((emr, index) => written(emr, ['emrs', index]));
}

/**
 * The secrets of a file.
 *
 * @param path of YAML or JSON with the secrets by name. `-`: standard input. Absent: none
 * @throws {ConfigurationError} if the file has another form. The message has no value of it
 */
export async function readSecrets(output: Output, path: string | undefined): Promise<SecretsByName> {
  if (path === undefined) return {};
  const { name, yaml } = await read(output, path);
  const { value } = yaml;
  const isRight = isMapping(value) && Object.values(value).every((it) => typeof it === 'string' && it !== '');
  if (!isRight) throw new ConfigurationError([`${name}: must have a text for each name of a secret: NAME: "value"`]);
  return value as SecretsByName;
}

/** Those of the secrets that are variables of the environment. */
export function secretsOfEnvironment(names: readonly string[]): SecretsByName {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value ? [[name, value] as const] : [];
    }),
  );
}

export interface InputOptions {
  readonly from?: string;
  readonly secrets?: string;
}

/** @throws {UsageError} if both are read from standard input */
export function assertOneInput({ from, secrets }: InputOptions): void {
  if (from === stdin && secrets === stdin)
    throw new UsageError('--from and --secrets cannot both be standard input. Nothing was changed.');
}
