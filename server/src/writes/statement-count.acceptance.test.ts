import { IncomingMessage } from 'node:http';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { observeStatements, type Statement, unobserved } from '../../../test/database/statements.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book, creationBody, freeSlot, oslo } from '../../../test/requests/bookings.ts';
import { newKey } from '../../../test/requests/idempotency-keys.ts';
import { claimKey, newWrite } from './claim.ts';
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

/** The verb of each statement, or the function of the sandbox that it calls. */
function describeStatements(statements: readonly Statement[]): string[] {
  return statements.map(({ text }) => {
    const [verb] = /\b(insert into|update|delete from|begin|commit|sandbox\.\w+)/i.exec(text) ?? ['select'];
    return verb.toLowerCase();
  });
}

describe('a booking without a code needs three statements, one of them in the EHR, and no explicit transaction', () => {
  test.each([
    ['with a key', newKey, ['insert into', 'sandbox.book_together', 'update']],
    ['without a key', () => undefined, ['insert into', 'sandbox.book_together', 'delete from']],
  ])('%s', async (_, makeKey, expected) => {
    expect(describeStatements(await statementsOfBooking(makeKey()))).toEqual(expected);
  });
});

test('the commit of a transaction that claims a key waits for the disk', async () => {
  const place = { clientId: 'everything', emr: 'sandbox-no', careUnitId: 'oslo-sentrum' };
  const leased = await newWrite(services, { ...place, keyed: { key: newKey(), fingerprints: ['it'] } });
  await db.transaction().execute(async (tx) => {
    await sql`SET LOCAL synchronous_commit TO on`.execute(tx);
    await claimKey(tx, services, leased, { ...nothingPlanned, leaseSeconds: 10 });
    const { rows } = await sql<{ synchronous_commit: string }>`SHOW synchronous_commit`.execute(tx);
    expect(rows).toEqual([{ synchronous_commit: 'on' }]);
  });
});
