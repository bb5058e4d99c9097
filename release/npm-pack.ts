import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const run = promisify(execFile);
/** The folder of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** A `package.json` of this repository. */
export type Manifest = Readonly<Record<string, unknown>>;

/**
 * Packs a package as it is published. What is published is never the folder of the package: that has TypeScript, and its
 * `package.json` is private, so that it cannot be published by mistake.
 *
 * @param folder where the tarball is written
 * @param manifest loses `private` and `devDependencies`
 * @param fill writes the files into a folder that is removed afterwards
 * @returns the name of the tarball
 */
export async function npmPack(
  folder: string,
  manifest: Manifest,
  fill: (staged: string) => Promise<void>,
): Promise<string> {
  const staged = await mkdtemp(join(tmpdir(), 'crossward-pack-'));
  try {
    await fill(staged);
    await cp(join(root, 'LICENSE'), join(staged, 'LICENSE'));
    const { private: _, devDependencies: __, ...published } = manifest;
    await writeFile(join(staged, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
    const args = ['pack', '--silent', '--pack-destination', resolve(folder)];
    const { stdout } = await run('npm', args, { cwd: staged, shell: process.platform === 'win32' });
    return stdout.trim();
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

/**
 * Copies the README of a package. A link to a source becomes one to its declarations, and one that leaves the package becomes
 * plain text.
 *
 * @param built the folder of the compiled sources
 */
export async function packReadme(source: string, staged: string, built: string): Promise<void> {
  const text = await readFile(join(source, 'README.md'), 'utf8');
  const packed = text.replaceAll(
    /\[([^\]]*)\]\((?!https?:|#)([^)#]*)[^)]*\)/g,
    (_link, words: string, target: string) => {
      const path = target.replace(/^src\//, `${built}/`).replace(/\.ts$/, '.d.ts');
      return existsSync(join(staged, path)) && !path.startsWith('..') ? `[${words}](${path})` : words;
    },
  );
  await writeFile(join(staged, 'README.md'), packed);
}

/** Compiles with TypeScript 7. */
export async function compile(project: string, target: string): Promise<void> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '-p', project, '--outDir', target]);
}
