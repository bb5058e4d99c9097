import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root, run } from './npm-pack.ts';

/** An example of the client's README, which is its first one, which creates the client, and its own lines. */
interface Example {
  readonly code: string;
  /** What the README says that it prints. */
  readonly printed: readonly string[];
}

/** The examples of the client's README. */
export async function clientExamples(): Promise<Example[]> {
  const readme = await readFile(join(root, 'client/README.md'), 'utf8');
  const [first = '', ...others] = Array.from(readme.matchAll(/```ts\n([\s\S]*?)```/g), ([, code = '']) => code);
  return others.map((code) => ({
    code: `${first}\n${code}`,
    printed: Array.from(code.matchAll(/\/\/ → (.*)/g), ([, line = '']) => line),
  }));
}

/**
 * Writes programs into a project and compiles them with the strictest options, without the repository's settings.
 *
 * @returns the errors of the compiler
 */
export async function compileIn(project: string, programs: Readonly<Record<string, string>>): Promise<string> {
  for (const [file, code] of Object.entries(programs)) await writeFile(join(project, file), code);
  const options = '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --module nodenext --target es2022';
  const types = ['--lib', 'es2022,dom,dom.iterable,dom.asynciterable', '--types', 'node'];
  await mkdir(join(project, 'node_modules/@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types']) {
    await cp(join(root, 'node_modules', name), join(project, 'node_modules', name), { recursive: true });
  }
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const words = [tsc, ...options.split(' '), ...types, ...Object.keys(programs)];
  return run(process.execPath, words, { cwd: project }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
}
