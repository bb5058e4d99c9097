import { randomUUID } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { observeStatements, type Statement, unobserved } from '../../../test/database/statements.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book, creationBody, freeSlot, oslo } from '../../../test/requests/bookings.ts';
import { newKey } from '../../../test/requests/idempotency-keys.ts';
import type { Db } from '../db/kysely.ts';
import { claimKey, openKey } from './claim.ts';
import { removeWithoutSync } from './store-end.ts';
import { nothingPlanned } from './store-plan.ts';

// Statements of background jobs are not recorded.
const gateway = await unobserved(() => startGateway());
afterAll(() => gateway.close());
const { services } = gateway.deps;
const { db } = services;

/** Its body has arrived. Otherwise the gateway would soon close its connection, which an injected request lacks. */
class ReceivedRequest extends IncomingMessage {}
Object.defineProperty(ReceivedRequest.prototype, 'complete', { value: true });

/** Statements of a booking without a code, those of the sandbox included. */
async function statementsOfBooking(key?: string): Promise<Statement[]> {
  // The first booking opens connections and fills caches.
  await book(gateway, { slot: await freeSlot(gateway) });
  const body = creationBody(await freeSlot(gateway));
  const { id, secret } = gateway.credentials('everything');
  const client = { 'x-service-client-id': id, 'x-service-client-secret': secret };
  return observeStatements(gateway.database.pool, async () => {
    const { statusCode } = await gateway.app.inject({
      method: 'POST',
      url: `${oslo}/appointments`,
      payload: body,
      headers: { ...client, ...(key === undefined ? {} : { 'idempotency-key': key }) },
      Request: ReceivedRequest,
    });
    expect(statusCode).toBe(201);
  });
}

/** The verb of each statement, and whether its commit waits for the disk. */
function describeStatements(statements: readonly Statement[]): string[] {
  return statements.map(({ text }) => {
    const [verb] = /\b(insert into|update|delete from|begin|commit|sandbox\.\w+)/i.exec(text) ?? ['select'];
    return `${verb.toLowerCase()}, ${text.includes("'synchronous_commit', 'off'") ? 'relaxed' : 'durable'}`;
  });
}

describe('a booking without a code needs three statements, one of them in the EHR, and no explicit transaction', () => {
  const inEhr = 'sandbox.write_appointments, durable';
  test.each([
    ['with a key, all wait for the disk', newKey, ['insert into, durable', inEhr, 'update, durable']],
    ['without a key, two wait for the disk', () => undefined, ['insert into, durable', inEhr, 'delete from, relaxed']],
  ])('%s', async (_, makeKey, expected) => {
    expect(describeStatements(await statementsOfBooking(makeKey()))).toEqual(expected);
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

  test('not for claiming a key in a transaction', async () => {
    const operation = await openKey(services, { ...place, key: newKey(), fingerprint: 'it' });
    expect(await commitAfter((tx) => claimKey(tx, services, operation, nothingPlanned, 10))).toBe('on');
  });

  test('for the end of an operation without a key', async () => {
    const operation = { ...place, id: randomUUID(), token: randomUUID(), keyHash: null, attempt: 0 };
    await sql`
      INSERT INTO operations (id, client_id, emr, care_unit_id, lease_token)
      VALUES (${operation.id}, 'everything', 'sandbox-no', 'oslo-sentrum', ${operation.token})`.execute(db);
    expect(await commitAfter((tx) => removeWithoutSync(tx, operation))).toBe('off');
  });

  test('only for these; other commits wait', async () => {
    expect(await commitAfter((tx) => sql`SELECT 1`.execute(tx))).toBe('on');
  });
});
