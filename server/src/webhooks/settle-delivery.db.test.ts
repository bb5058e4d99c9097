import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { publishEvents } from '../events/publish-events.ts';
import { writeEvents } from '../events/write-events.ts';
import { type Claimed, claimDeliveries } from './claim-deliveries.ts';
import { insertDeliveries } from './fan-out.ts';
import { settleDelivery } from './settle-delivery.ts';

let testDatabase: TestDatabase;
let db: Db;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = createDb(testDatabase.database);
});
afterAll(() => testDatabase.dispose());

const retrySeconds = [0, 0, 0];

/** An endpoint with a delivery for each of `count` events of an appointment. Returns its id. */
async function endpointWith(count: number): Promise<string> {
  const id = randomUUID();
  await db
    .insertInto('webhook_endpoints')
    .values({ id, client_id: 'app', sealed_url: Buffer.alloc(1), sealed_secret: Buffer.alloc(1), event_types: null })
    .execute();
  const event = { type: 'emr.unavailable', emr: 'ehr', careUnitId: null, subject: `a-${id}` } as const;
  const data = { status: 'unavailable' } as const;
  await writeEvents(
    db,
    Array.from({ length: count }, () => ({ ...event, data })),
  );
  await publishEvents(db, (tx, events) => insertDeliveries(tx, id, events));
  return id;
}

/** @param leaseSeconds 0: another process may claim the delivery at once */
async function claim(endpointId: string, leaseSeconds = 60): Promise<Claimed> {
  const [claimed, ...more] = await claimDeliveries(db, endpointId, leaseSeconds, 10);
  if (!claimed || more.length > 0) throw new Error(`${claimed ? more.length + 1 : 0} deliveries were claimed`);
  return claimed;
}

const deliveriesTo = async (endpointId: string) =>
  (
    await sql<{ state: string; attempts: number; failure_reason: string | null }>`
      SELECT state, attempts, failure_reason FROM webhook_deliveries WHERE endpoint_id = ${endpointId}
      ORDER BY sequence`.execute(db)
  ).rows;

test('an attempt whose process is killed uses up no retry', async () => {
  const id = await endpointWith(1);
  for (let killed = 0; killed < 11; killed++) await claim(id, 0);
  const status = { failure: 'status', status: 503 } as const;
  for (const _ of retrySeconds) expect(await settleDelivery(db, await claim(id), status, retrySeconds)).toBe('retry');
  expect(await settleDelivery(db, await claim(id), status, retrySeconds)).toBe('failed');
  expect(await deliveriesTo(id)).toMatchObject([{ state: 'failed', attempts: 15 }]);
});
