import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const folder = new URL('../../docs/decisions/', import.meta.url);
const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const files = readdirSync(folder);
const pages = files.filter((name) => name !== 'README.md').sort();

test('at most 50 pages, of 1,500 lines together, record decisions', () => {
  expect(pages.length).toBeLessThanOrEqual(50);
  const lines = files.reduce((sum, name) => sum + textOf(name).split('\n').length - 1, 0);
  expect(lines).toBeLessThanOrEqual(1_500);
});

test('each page has the number of its file name, once, and is in the list with its title', () => {
  const wrong = pages.filter((name) => {
    const [, number = '', title = ''] = /^# (\d+)\. (.+)\n/.exec(textOf(name)) ?? [];
    const isAlone = pages.filter((other) => other.startsWith(name.slice(0, 4))).length === 1;
    const isListed = textOf('README.md').includes(`| [${number}](${name}) | ${title} |`);
    return !isAlone || !isListed || name.slice(0, 5) !== `${number.padStart(4, '0')}-`;
  });
  expect(wrong).toEqual([]);
});

test('a text that names a decision by its number links to its page', () => {
  const texts = readdirSync(new URL('../../docs/', import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8'));
  const links = texts.flatMap((text) => [...text.matchAll(/\[decision\s+(\d+)\]\([^)]*?(\d+)-[a-z0-9-]+\.md\)/gi)]);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter(([, number = '', file]) => number.padStart(4, '0') !== file).map(([link]) => link)).toEqual([]);
});
