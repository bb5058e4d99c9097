/** @module-tag any-database */
import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../gateway/gateway.ts';
import { rowsOf } from '../requests/codes.ts';

// It has the tables of its queue too.
const gateway = await startGateway();
afterAll(() => gateway.close());

/** The tables in the first column of the tables of the page. */
function documented(): string[] {
  const text = readFileSync(new URL('../../docs/data.md', import.meta.url), 'utf8');
  return [...text.matchAll(/^\| (`[^|]+) \|/gm)]
    .flatMap(([, cell = '']) => [...cell.matchAll(/`([a-z_.]+)`/g)])
    .map(([, name = '']) => name)
    .sort();
}

test('the page about data has each table of the database, and no other', async () => {
  const tables = await rowsOf<{ name: string }>(
    gateway,
    `SELECT CASE nspname WHEN 'public' THEN relname ELSE nspname || '.' || relname END AS name
     FROM pg_class JOIN pg_namespace AS place ON place.oid = relnamespace
     WHERE relkind IN ('r', 'p') AND NOT relispartition AND nspname !~ '^(pg_|information_schema$)'`,
  );
  expect(documented()).toEqual(tables.map(({ name }) => name).sort());
});
