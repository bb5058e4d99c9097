import { readFile } from 'node:fs/promises';
import { formatMatrix, type Report } from '@crossward/connector-kit/conformance';
import { expect } from 'vitest';

/** Expects docs/conformance.md to contain this result. */
export async function assertPublished(report: Report): Promise<void> {
  const published = await readFile(new URL('../../docs/conformance.md', import.meta.url), 'utf8');
  const lines = new Set(published.split('\n'));
  const missing = formatMatrix([report])
    .split('\n')
    .filter((line) => !lines.has(line));
  expect(missing, 'docs/conformance.md is out of date: run npm run connectors-matrix').toEqual([]);
}
