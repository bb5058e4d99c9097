import { expect, test } from 'vitest';
import { describeStatement } from './statement-name.ts';

test.each([
  ['SELECT * FROM operations WHERE id = $1', 'SELECT', 'operations'],
  ['insert into "sandbox"."appointments" ("id") values ($1)', 'INSERT', 'sandbox.appointments'],
  ['select * from sandbox.book_together($1::jsonb)', 'SELECT', 'sandbox.book_together'],
  ['  update "events" set x = 1', 'UPDATE', 'events'],
  ['WITH a AS (SELECT 1) DELETE FROM messages', 'WITH', 'messages'],
  ['begin', 'BEGIN', undefined],
  ['COMMIT', 'COMMIT', undefined],
  ["SET TIME ZONE 'UTC'", 'SET', undefined],
  ['EXPLAIN something', 'OTHER', undefined],
  // A connector that puts values into its texts.
  ["SELECT * FROM people WHERE name = 'from granskog' OR id = 15859000026", 'SELECT', 'people'],
  ["SELECT ' from granskog '", 'SELECT', undefined],
  ['SELECT 1 FROM "15859000026"', 'SELECT', undefined],
])('%s is %s of %s', (text, operation, target) => {
  expect(describeStatement(text)).toEqual({ operation, target });
  expect(describeStatement(text)).toEqual({ operation, target });
});
