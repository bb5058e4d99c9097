import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../test/codes.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import type { Client } from '../clients/client-registry.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { publishEvents } from '../events/publish-events.ts';
import { deleteOldEvents } from '../events/retention.ts';
import { writeEvents } from '../events/write-events.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { type Claimed, claimDeliveries } from './claim-deliveries.ts';
import { createDispatcher, type Dispatcher } from './dispatcher.ts';
import { insertEndpoint } from './endpoint-store.ts';
import { insertDeliveries } from './fan-out.ts';
import { createWebhookMetrics } from './metrics.ts';
import type { DeliverySender } from './send-delivery.ts';
import { settleDelivery } from './settle-delivery.ts';
import { makeSecret } from './signing.ts';

let testDatabase: TestDatabase;
let db: Db;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = createDb(testDatabase.database);
});
afterAll(() => testDatabase.dispose());

const retrySeconds = [0, 0, 0];
const keys = createKeyRing([randomBytes(32)]);

/** An endpoint with a delivery for each of `count` events of an appointment. Returns its id. */
async function endpointWith(count: number): Promise<string> {
  const made = { clientId: 'app', url: 'https://hooks.clinic.example/', secret: makeSecret(), eventTypes: null };
  const endpoint = await db.transaction().execute((tx) => insertEndpoint(tx, keys, made, 1000));
  if (!endpoint) throw new Error('The endpoint was not created');
  const { id } = endpoint;
  const event = { type: 'emr.unavailable', emr: 'ehr', careUnitId: 'ward', subject: `a-${id}` } as const;
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

/** A dispatcher of the client `app`, which has the grants that `find` returns. */
function dispatch(send: DeliverySender['send'], find: () => Client | undefined): Dispatcher {
  return createDispatcher({
    db,
    keys,
    clients: { find, refresh: async () => undefined },
    sender: { send, close: async () => undefined },
    settings: { timeout_ms: 10_000, retry_seconds: retrySeconds },
    metrics: createWebhookMetrics(new Registry()),
    log: pino({ level: 'silent' }),
  });
}

const granted = (...careUnits: string[]): Client => ({
  id: 'app',
  scopes: new Set(['webhooks:manage']),
  grants: new Map([['ehr', new Set(careUnits)]]),
  returnUrls: [],
});

test.each([
  ['is removed', undefined],
  ['loses the care unit', granted('another')],
  ['loses the scope', { ...granted('ward'), scopes: new Set() } as Client],
] as const)('a client that %s gets no retry and no later event', async (_, restricted) => {
  const id = await endpointWith(2);
  let client: Client | undefined = granted('ward');
  let sent = 0;
  const dispatcher = dispatch(
    async () => {
      sent++;
      client = restricted;
      return { failure: 'status', status: 503 };
    },
    () => client,
  );
  await dispatcher.round();
  await eventually(async () => {
    const ended = { state: 'failed', failure_reason: 'not_granted' };
    expect(await deliveriesTo(id)).toMatchObject([ended, ended]);
  });
  expect(sent).toBe(1);
  await dispatcher.stop();
});

test('an event is not deleted before it is delivered, but is not kept for good', async () => {
  const [pending, delivered] = [await endpointWith(1), await endpointWith(1)];
  await settleDelivery(db, await claim(delivered), {}, retrySeconds);
  const deleteAfter = async (days: number) => {
    await sql`UPDATE events SET occurred_at = now() - make_interval(days => ${days})`.execute(db);
    await deleteOldEvents(db, 2, 1_000);
    return (await Promise.all([pending, delivered].map(deliveriesTo))).map(({ length }) => length);
  };
  expect(await deleteAfter(1)).toEqual([1, 1]);
  expect(await deleteAfter(3)).toEqual([1, 0]);
  expect(await deleteAfter(5)).toEqual([0, 0]);
});
