import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'vitest';

/** The commands of a document, in order: its blocks marked `sh`. */
export function shellBlocks(path: string, section?: string): readonly string[] {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const part = section === undefined ? text : text.split('\n## ').find((it) => it.startsWith(`${section}\n`));
  return [...(part ?? '').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands = '']) => commands);
}

/** The shells in which documents must work, with options that read no start-up files and stop at the first error. */
export const shells = [
  { name: 'bash', options: ['--norc', '-eu'] },
  // Without comments, as in a terminal.
  { name: 'zsh', options: ['-f', '-eu', '-o', 'no_interactive_comments'] },
] as const;

export type Shell = (typeof shells)[number];

/**
 * Whether a shell is missing. Tests that need it are then skipped on a developer's machine. In CI, this declares a test
 * that fails.
 */
export function isShellMissing({ name }: Shell): boolean {
  if (spawnSync(name, ['-c', 'exit 0']).status === 0) return false;
  if (process.env.CI) {
    test(`${name} is installed`, () => {
      throw new Error(`${name} was not found. Install it.`);
    });
  } else {
    process.stderr.write(`Commands of documents are not tested in ${name}: it is not installed.\n`);
  }
  return true;
}
