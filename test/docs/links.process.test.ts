import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const documents = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => path !== '' && existsSync(resolve(root, path)));

describe('relative links point to an existing file and heading', () => {
  test.each(documents)('%s', (path) => {
    expect(brokenLinks(path)).toEqual([]);
  });
});

test('the check finds a missing file and a missing heading', () => {
  const file = resolve(root, 'docs/page.md');
  const text = '# A page\n[here](#a-page) [up](../README.md) [no file](none.md) [no heading](#none) `[code](none.md)`';
  expect(brokenLinksIn(text, file)).toEqual(['none.md', '#none']);
});

function brokenLinks(path: string): string[] {
  const file = resolve(root, path);
  return brokenLinksIn(readFileSync(file, 'utf8'), file);
}

function brokenLinksIn(text: string, file: string): string[] {
  return Array.from(withoutCode(text).matchAll(/\]\(([^()\s]+)\)/g), ([, target = '']) => target).filter(
    (target) => !/^[a-z]+:/.test(target) && !resolves(target, text, file),
  );
}

function resolves(target: string, text: string, file: string): boolean {
  const [path = '', anchor] = decodeURIComponent(target).split('#');
  const linked = path === '' ? file : resolve(dirname(file), path);
  if (path !== '' && (relative(root, linked).startsWith('..') || !existsSync(linked))) return false;
  if (anchor === undefined) return true;
  return linked.endsWith('.md') && anchorsOf(path === '' ? text : readFileSync(linked, 'utf8')).has(anchor);
}

/** The anchors of headings on GitHub: https://github.com/gjtorikian/html-pipeline, `toc_filter.rb` */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutFences(text).matchAll(/^#{1,6} +(.+)$/gm)) {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const anchor = words
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

function withoutCode(text: string): string {
  return withoutFences(text).replace(/`[^`\n]+`/g, '');
}

function withoutFences(text: string): string {
  return text.replace(/^( *)```[\s\S]*?^\1```$/gm, '');
}
