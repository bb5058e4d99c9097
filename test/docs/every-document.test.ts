import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const documents = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && existsSync(`${root}${path}`));

/** The documents that the one at `path` links to. */
function linkedFrom(path: string): string[] {
  const text = readFileSync(`${root}${path}`, 'utf8');
  return [...text.matchAll(/\]\(([^()\s#]+\.md)/g)].map(([, target = '']) =>
    posix.join(posix.dirname(path), decodeURIComponent(target)),
  );
}

/** Those that docs/README.md lists as a group. */
const lists = ['docs/decisions/README.md'];
/** Copied into new projects, whose README they are. */
const templates = /^connector-kit\/template/;

test('docs/README.md lists every document, itself or in the list of decisions', () => {
  const listed = new Set(['docs/README.md', ...['docs/README.md', ...lists].flatMap(linkedFrom)]);
  expect(documents.filter((path) => !listed.has(path) && !templates.test(path))).toEqual([]);
});
