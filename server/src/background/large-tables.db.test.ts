import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway.ts';
import { fillTables, fullScans, largeTables } from '../../../test/large-tables.ts';
import { wrapConnector } from '../../../test/other-ehrs.ts';
import { hidingItsStatements, observeStatements, type Statement, unobserved } from '../../../test/statements.ts';
import { createDb } from '../db/kysely.ts';
import { listFailed } from '../messages/failed.ts';
import { listOpen } from '../messages/open-messages.ts';
import { backgroundWork } from './rounds.ts';

const gateway = await startGateway({ connectors: [wrapConnector(hidingItsStatements)] });
afterAll(() => gateway.close());
const { database } = gateway;
const { services, log } = gateway.deps;

/** What the gateway's own rounds ask meanwhile counts, too: some of the work may be done there. */
async function observeAll(work: () => Promise<unknown>): Promise<Statement[]> {
  let inFront: Statement[] = [];
  const behind = await observeStatements(database.background, async () => {
    inFront = await observeStatements(database.pool, work);
  });
  const isPlanned = ({ text }: Statement) => /^\s*(with|select|insert|update|delete)\b/i.test(text);
  return [...new Map([...inFront, ...behind].filter(isPlanned).map((it) => [it.text, it])).values()];
}

/** Those that read a table or an index from end to end. */
async function readingWhole(statements: readonly Statement[]): Promise<string[]> {
  const found: string[] = [];
  for (const statement of statements) {
    const whole = await fullScans(database, statement);
    if (whole.length > 0) found.push(`${whole.join(', ')}: ${statement.text}`);
  }
  return found;
}

/** What only a round with something to do asks. */
const ofFullRounds = [
  /update operations set\s+lease_token/i,
  /update "operations" set .*"consecutive_failures"/,
  /update "confirmation_items" set "state" = .*"operation_id"/,
  /delete from operations/i,
  /delete from messages/i,
  /delete from confirmation_items/i,
  /update confirmations set purged_at/i,
];

test('no round of background work reads what grows with use from end to end', async () => {
  const statements = await observeAll(async () => {
    await unobserved(() => fillTables(database));
    for (const { round } of backgroundWork({ ...services, db: createDb(database) }, { confirmation_days: 90 }, log)) {
      await round();
    }
  });
  const texts = statements.map(({ text }) => text);
  for (const table of largeTables) expect(texts.some((text) => text.includes(table))).toBe(true);
  for (const text of ofFullRounds) expect(texts).toContainEqual(expect.stringMatching(text));
  expect(await readingWhole(statements)).toEqual([]);
});

test.each([
  ['open messages', listOpen],
  ['failed messages', listFailed],
] as const)('nor does the list of %s that an operator asks for', async (_, list) => {
  expect(await readingWhole(await observeAll(() => list(createDb(database))))).toEqual([]);
});
