import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** https://github.com/oasdiff/oasdiff, Apache License 2.0. Go checks it against its public log of hashes. */
const oasdiff = 'github.com/oasdiff/oasdiff@v1.36.0';

/** The guide promises that a set of values can grow: callers ignore a type of event that they do not know. */
const severityLevels = fileURLToPath(new URL('severity-levels.txt', import.meta.url));

/** Whether Go, which builds the differ, is installed. */
export async function hasGo(): Promise<boolean> {
  return promisify(execFile)('go', ['version']).then(
    () => true,
    () => false,
  );
}

/**
 * Compares two OpenAPI documents. Events are compared too: a response lists them.
 *
 * @param before path of the released document
 * @param after path of the other one
 * @returns what breaks callers, for people. Empty: nothing
 * @throws if the differ does not run
 */
export async function breakingChanges(before: string, after: string): Promise<string> {
  const options = ['--fail-on', 'ERR', '--color', 'never', '--severity-levels', severityLevels];
  const folder = await mkdtemp(join(tmpdir(), 'crossward-interfaces-'));
  try {
    const [older, newer] = [join(folder, 'before.json'), join(folder, 'after.json')];
    await writeFile(older, await withTitles(before));
    await writeFile(newer, await withTitles(after));
    const words = ['run', oasdiff, 'breaking', older, newer, ...options];
    // Outside of any Go module.
    await promisify(execFile)('go', words, { cwd: tmpdir(), maxBuffer: 100_000_000 });
    return '';
  } catch (error) {
    const { stdout = '' } = error as { stdout?: string };
    if (stdout.trim() === '') throw error;
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The document, in which each unnamed alternative is titled by the first schema that it refers to. The differ compares
 * alternatives of the same title, and takes others that have both changed for new ones.
 */
async function withTitles(path: string): Promise<string> {
  const document: unknown = JSON.parse(await readFile(path, 'utf8'), (key, value: unknown) =>
    key === 'anyOf' && Array.isArray(value) ? value.map(titled) : value,
  );
  return JSON.stringify(document);
}

function titled(alternative: object): object {
  const [, name] = /"\$ref":"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(alternative)) ?? [];
  return name === undefined || '$ref' in alternative ? alternative : { title: name, ...alternative };
}

/** Whether callers of one version must expect that another one breaks them: https://semver.org/spec/v2.0.0.html#spec-item-4 */
export function mayBreak(before: string, after: string): boolean {
  const [[major, minor], [nextMajor, nextMinor]] = [numbers(before), numbers(after)];
  return nextMajor > major || (nextMajor === 0 && nextMinor > minor);
}

function numbers(version: string): [major: number, minor: number] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return [major, minor];
}
