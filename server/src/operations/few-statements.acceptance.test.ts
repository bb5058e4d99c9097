import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { book, creationBody, freeSlot, oslo } from '../../../test/bookings.ts';
import { startGateway } from '../../../test/gateway.ts';
import { newKey } from '../../../test/idempotency-keys.ts';
import { anotherConnector } from '../../../test/other-ehrs.ts';
import { keepingItsStatements, observeStatements, type Statement } from '../../../test/statements.ts';
import type { Db } from '../db/kysely.ts';
import { claimKey } from './claim.ts';
import { removeRelaxed } from './store-end.ts';

const gateway = await startGateway({ connectors: [anotherConnector(keepingItsStatements)] });
afterAll(() => gateway.close());
const { db, keys } = gateway.deps.services;

/** What a booking that needs no code costs the gateway's own tables. */
async function statementsOfBooking(key?: string): Promise<Statement[]> {
  const slot = await freeSlot(gateway);
  // What is made once, such as connections and what lies in memory, is made.
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

/** What each does, and whether its commit waits for the disk. */
function told(statements: readonly Statement[]): string[] {
  return statements.map(({ text }) => {
    const [verb] = /\b(insert into|update|delete from|begin|commit)\b/i.exec(text) ?? ['select'];
    return `${verb.toLowerCase()}, ${text.includes("'synchronous_commit', 'off'") ? 'relaxed' : 'durable'}`;
  });
}

describe('a booking that needs no code costs few statements, none of them in a transaction of its own', () => {
  test('three under a key, of which two wait for the disk', async () => {
    expect(told(await statementsOfBooking(newKey()))).toEqual([
      'insert into, relaxed',
      'update, durable',
      'update, durable',
    ]);
  });

  test('two without a key, of which one waits for the disk', async () => {
    expect(told(await statementsOfBooking())).toEqual(['insert into, durable', 'delete from, relaxed']);
  });
});

describe('the commit does not wait for the disk', () => {
  /** What the transaction of a statement ends with. */
  function commitAfter(statement: (db: Db) => Promise<unknown>): Promise<string | undefined> {
    return db.transaction().execute(async (tx) => {
      await sql`SET LOCAL synchronous_commit TO on`.execute(tx);
      await statement(tx);
      const { rows } = await sql<{ synchronous_commit: string }>`SHOW synchronous_commit`.execute(tx);
      return rows[0]?.synchronous_commit;
    });
  }
  const place = { clientId: 'everything', emr: 'sandbox-no', careUnitId: 'oslo-sentrum' };

  test('of a claim', async () => {
    const claim = { ...place, key: newKey(), fingerprint: 'it', leaseSeconds: 10 };
    expect(await commitAfter((tx) => claimKey(tx, keys, claim))).toBe('off');
  });

  test('of the end of an operation that nobody can ask for again', async () => {
    const operation = { ...place, id: randomUUID(), token: randomUUID(), keyHash: undefined, attempt: 0 };
    await sql`
      INSERT INTO operations (id, client_id, emr, care_unit_id, lease_token)
      VALUES (${operation.id}, 'everything', 'sandbox-no', 'oslo-sentrum', ${operation.token})`.execute(db);
    expect(await commitAfter((tx) => removeRelaxed(tx, operation))).toBe('off');
  });

  test('but that of anything else does', async () => {
    expect(await commitAfter((tx) => sql`SELECT 1`.execute(tx))).toBe('on');
  });
});
