import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { book, creationBody, freeSlot, oslo } from '../../../test/bookings.ts';
import { startGateway } from '../../../test/gateway.ts';
import { newKey } from '../../../test/idempotency-keys.ts';
import { wrapConnector } from '../../../test/other-ehrs.ts';
import { hidingItsStatements, observeStatements, type Statement } from '../../../test/statements.ts';
import type { Db } from '../db/kysely.ts';
import { claimKey, newKeyedOperation } from './claim.ts';
import { removeWithoutSync } from './store-end.ts';

const gateway = await startGateway({ connectors: [wrapConnector(hidingItsStatements)] });
afterAll(() => gateway.close());
const { db, keys } = gateway.deps.services;

/** Statements on the gateway's tables for a booking without a code. */
async function statementsOfBooking(key?: string): Promise<Statement[]> {
  const slot = await freeSlot(gateway);
  // The first booking opens connections and fills caches.
  await book(gateway, { slot });
  const next = await freeSlot(gateway);
  return observeStatements(gateway.database.pool, async () => {
    const { status } = await gateway.request('POST', `${oslo}/appointments`, {
      body: creationBody(next),
      headers: { 'idempotency-key': key },
    });
    expect(status).toBe(201);
  });
}

/** The verb of each statement, and whether its commit waits for the disk. */
function describeStatements(statements: readonly Statement[]): string[] {
  return statements.map(({ text }) => {
    const [verb] = /\b(insert into|update|delete from|begin|commit)\b/i.exec(text) ?? ['select'];
    return `${verb.toLowerCase()}, ${text.includes("'synchronous_commit', 'off'") ? 'relaxed' : 'durable'}`;
  });
}

describe('a booking without a code needs few statements and no explicit transaction', () => {
  const auditEntry = 'insert into, durable';
  test.each([
    ['with a key, all wait for the disk', newKey, ['insert into, durable', 'update, durable', auditEntry]],
    [
      'without a key, two wait for the disk',
      () => undefined,
      ['insert into, durable', 'delete from, relaxed', auditEntry],
    ],
  ])('three: %s', async (_, makeKey, expected) => {
    // On PGlite, statements of background jobs are observed too.
    await expect.poll(async () => describeStatements(await statementsOfBooking(makeKey()))).toEqual(expected);
  });
});

describe('a booking in the sandbox', () => {
  /** The next transaction id of the database. Only transactions that change something have one. */
  async function nextTransactionId(): Promise<number> {
    const { rows } = await sql<{ id: number }>`SELECT pg_snapshot_xmax(pg_current_snapshot())::text::int AS id`.execute(
      db,
    );
    return rows[0]?.id ?? Number.NaN;
  }

  test.each([
    ['with a key', newKey],
    ['without a key', () => undefined],
  ])('%s takes four transactions, one of them in the EHR', async (_, makeKey) => {
    const counts: number[] = [];
    // Background jobs, and other tests on the same server, can add to a count.
    while (counts.length < 200 && counts.at(-1) !== 4) {
      const body = creationBody(await freeSlot(gateway));
      const headers = { 'idempotency-key': makeKey() };
      const before = await nextTransactionId();
      expect(await gateway.request('POST', `${oslo}/appointments`, { body, headers })).toMatchObject({ status: 201 });
      counts.push((await nextTransactionId()) - before);
    }
    expect(Math.min(...counts)).toBe(4);
  });
});

describe('the commit does not wait for the disk', () => {
  /** The value of `synchronous_commit` when the transaction of a statement ends. */
  function commitAfter(statement: (db: Db) => Promise<unknown>): Promise<string | undefined> {
    return db.transaction().execute(async (tx) => {
      await sql`SET LOCAL synchronous_commit TO on`.execute(tx);
      await statement(tx);
      const { rows } = await sql<{ synchronous_commit: string }>`SHOW synchronous_commit`.execute(tx);
      return rows[0]?.synchronous_commit;
    });
  }
  const place = { clientId: 'everything', emr: 'sandbox-no', careUnitId: 'oslo-sentrum' };

  test('for claiming a key without a plan', async () => {
    const operation = await newKeyedOperation(db, keys, { ...place, key: newKey(), fingerprint: 'it' });
    expect(await commitAfter((tx) => claimKey(tx, keys, operation, 10))).toBe('off');
  });

  test('for the end of an operation without a key', async () => {
    const operation = { ...place, id: randomUUID(), token: randomUUID(), keyHash: undefined, attempt: 0 };
    await sql`
      INSERT INTO operations (id, client_id, emr, care_unit_id, lease_token)
      VALUES (${operation.id}, 'everything', 'sandbox-no', 'oslo-sentrum', ${operation.token})`.execute(db);
    expect(await commitAfter((tx) => removeWithoutSync(tx, operation))).toBe('off');
  });

  test('only for these; other commits wait', async () => {
    expect(await commitAfter((tx) => sql`SELECT 1`.execute(tx))).toBe('on');
  });
});
