import { readFile } from 'node:fs/promises';
import { capabilities, formatMatrix, type Report } from '@crossward/connector-kit/conformance';
import { expect } from 'vitest';

/** Expects docs/conformance.md to contain this result, of all capabilities or of some. */
export async function assertPublished(report: Report): Promise<void> {
  const published = await readFile(new URL('../../docs/conformance.md', import.meta.url), 'utf8');
  const known = new Set(factsOf(published));
  const checked = new Set(report.results.map(({ capability }) => capability));
  for (const { name } of capabilities) {
    if (!checked.has(name)) known.add(factOf(report.subject, name, 'not checked'));
  }
  const missing = factsOf(formatMatrix([report])).filter((it) => !known.has(it));
  expect(missing, 'docs/conformance.md is out of date: run npm run connectors-matrix').toEqual([]);
}

const factOf = (...parts: readonly (string | undefined)[]) => parts.join(': ');

/** What the tables and the lists of a matrix say, one by one. */
function factsOf(matrix: string): string[] {
  let head: readonly string[] = [];
  let subject = '';
  return matrix.split('\n').flatMap((line) => {
    subject = /^\*\*(.*)\*\*/.exec(line)?.[1] ?? subject;
    const [, reason, checks] = /^- (.*?): ([\w-]+ “.*)$/.exec(line) ?? [];
    if (checks !== undefined) return checks.split('; ').map((check) => factOf(subject, reason, check));
    if (!line.startsWith('|')) return [];
    const [name, ...cells] = line.slice(2, -2).split(' | ');
    if (name === '') head = cells;
    return cells.map((cell, index) => factOf(name, head[index], cell));
  });
}
