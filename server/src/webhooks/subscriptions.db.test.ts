import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { eventually } from '../../../test/requests/codes.ts';
import type { Client } from '../clients/client-registry.ts';
import { createDb } from '../db/kysely.ts';
import { publishEvents } from '../events/publish-events.ts';
import { writeEvents } from '../events/write-events.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { type Claimed, claimDeliveries } from './claim-deliveries.ts';
import { createDispatcher } from './dispatcher.ts';
import { createEndpoint, setStatus } from './endpoint-actions.ts';
import { findEndpoint } from './endpoint-store.ts';
import { fanOut } from './fan-out.ts';
import { isHeartbeatDue, writeHeartbeats } from './heartbeats.ts';
import { createWebhookMetrics } from './metrics.ts';
import { continueReplays, startReplay } from './replay.ts';
import { resealEndpoints } from './reseal-endpoints.ts';
import type { AttemptResult } from './send-delivery.ts';

const { database, dispose } = await createTestDatabase('postgresql');
afterAll(() => dispose());
const db = createDb(database);
const older = randomBytes(32);
const keys = createKeyRing([older]);

const grantedTo = (id: string, ...careUnits: string[]): Client => ({
  id,
  scopes: new Set(['webhooks:manage']),
  grants: new Map([['ehr', new Set(careUnits)]]),
  returnUrls: [],
});

const details = {
  criteria: 'urn:topic',
  filters: [],
  content: 'id-only',
  mediaType: 'application/fhir+json',
  headers: [['Authorization', 'Bearer kanari']],
  reason: 'test',
  publicUrl: 'http://127.0.0.1',
  timeoutSeconds: null,
  maxCount: null,
} as const;

/** A Subscription of a client of its own, with what a gateway sends to it. */
async function subscribed({ answer = async () => ({ status: 200 }) }: { answer?: () => Promise<AttemptResult> } = {}) {
  const id = randomUUID();
  const rules = { max_endpoints: 1, allow_http: false, allow_private_addresses: false };
  const subscription = {
    ...{ details, emr: 'ehr', careUnitId: 'ward', filter: { statuses: ['booked'], resource_ids: ['emr_id:r-1'] } },
    ...{ heartbeatSeconds: 60, endsAt: null },
  };
  const eventTypes = ['appointment.booked'];
  const url = 'https://hooks.clinic.example/';
  await db
    .transaction()
    .execute((tx) => createEndpoint(tx, keys, rules, { id, clientId: id, url, eventTypes, subscription }));
  let client: Client = grantedTo(id, 'ward', 'other');
  const sent: Claimed[] = [];
  const dispatcher = createDispatcher({
    db,
    keys,
    clients: { configured: () => [client], find: () => client, refresh: async () => undefined },
    sender: { send: () => answer(), close: async () => undefined },
    notify: async (_endpoint, _subscription, delivery) => {
      sent.push(delivery);
      return { payload: '{}' };
    },
    settings: { timeout_ms: 1_000, retry_seconds: [0] },
    metrics: createWebhookMetrics(new Registry()),
    log: pino({ level: 'silent' }),
  });
  return {
    id,
    sent,
    restrict(...careUnits: string[]) {
      client = grantedTo(id, ...careUnits);
    },
    client: () => client,
    /** For its client, and that of another one. */
    publish: (another?: { client(): Client }) =>
      publishEvents(db, fanOut({ configured: () => [client, ...(another ? [another.client()] : [])] })),
    replay: () => continueReplays(db, { configured: () => [client] }),
    /** Makes rounds until this holds. */
    async until(holds: () => void | Promise<void>) {
      await eventually(async () => {
        await dispatcher.round();
        await holds();
      });
    },
    find: async () => findEndpoint(db, keys, id, id),
    stop: () => dispatcher.stop(),
  };
}

const bookings = (...places: (readonly [careUnitId: string, resource: string, status?: string])[]) =>
  writeEvents(
    db,
    places.map(([careUnitId, resource, status = 'booked']) => {
      const appointment_id = randomUUID();
      const data = { appointment_id, status, resource_id: `emr_id:${resource}` } as never;
      return { type: 'appointment.booked', emr: 'ehr', careUnitId, subject: appointment_id, data };
    }),
  );

test('nothing is sent before the handshake, which another gateway sends if the first one is killed', async () => {
  const it = await subscribed();
  await it.publish();
  await bookings(['ward', 'r-1']);
  await it.publish();
  // Claimed, and never sent.
  expect(await claimDeliveries(db, it.id, 0, 10)).toMatchObject([{ event: { type: 'subscription.handshake' } }]);
  expect(await claimDeliveries(db, it.id, 30, 10)).toMatchObject([{ event: { type: 'subscription.handshake' } }]);
  expect(await claimDeliveries(db, it.id, 0, 10)).toEqual([]);
  await sql`UPDATE webhook_deliveries SET next_attempt_at = now() WHERE endpoint_id = ${it.id}`.execute(db);
  await it.until(() => expect(it.sent).toHaveLength(2));
  expect(it.sent).toMatchObject([
    { number: null, attempts: 3, event: { type: 'subscription.handshake' } },
    { number: 1, total: 1, event: { type: 'appointment.booked' } },
  ]);
  await it.stop();
});

test('it counts the events of its care unit, resource and status, also those that it is not sent', async () => {
  const it = await subscribed();
  await it.publish();
  await it.until(async () => expect((await it.find())?.subscription?.isRequested).toBe(false));
  await db.transaction().execute((tx) => setStatus(tx, it.id, 'disabled'));
  await bookings(['ward', 'r-1'], ['other', 'r-1'], ['ward', 'r-2'], ['ward', 'r-1', 'cancelled']);
  await it.publish();
  await db.transaction().execute((tx) => setStatus(tx, it.id, 'enabled'));
  await bookings(['ward', 'r-1'], ['ward', 'r-1']);
  // Two gateways at once.
  await Promise.all([it.publish(), it.publish()]);
  await it.publish();
  await it.until(() => expect(it.sent.flatMap(({ number }) => number ?? [])).toEqual([2, 3]));
  // What it was not sent can be replayed, and nothing from before it was created.
  await db.transaction().execute((tx) => startReplay(tx, it.id, new Date(0)));
  await it.replay();
  await it.until(() => expect(it.sent.flatMap(({ number }) => number ?? []).slice(2)).toEqual([1, 2, 3]));
  await it.stop();
});

test('a request that changes it does not hold up the events of others', async () => {
  const [it, other] = [await subscribed(), await subscribed()];
  await it.publish(other);
  await bookings(['ward', 'r-1']);
  await db.transaction().execute(async (tx) => {
    await tx.updateTable('webhook_endpoints').set({ ends_at: null }).where('id', '=', it.id).execute();
    await other.publish(it);
  });
  await other.until(() => expect(other.sent.map(({ number }) => number)).toContain(1));
  await Promise.all([it.stop(), other.stop()]);
});

test('a lost grant ends its notifications and heartbeats', async () => {
  const it = await subscribed();
  await it.publish();
  await it.until(async () => expect((await it.find())?.subscription?.isRequested).toBe(false));
  await bookings(['ward', 'r-1']);
  await it.publish();
  it.restrict('other');
  await sql`UPDATE webhook_endpoints SET next_heartbeat_at = now() WHERE id = ${it.id}`.execute(db);
  await writeHeartbeats(db);
  await it.publish();
  await it.until(async () => {
    const { rows } =
      await sql`SELECT DISTINCT state, failure_reason FROM webhook_deliveries WHERE endpoint_id = ${it.id}
      AND state <> 'delivered'`.execute(db);
    expect(rows).toEqual([{ state: 'failed', failure_reason: 'not_granted' }]);
  });
  expect(it.sent).toHaveLength(1);
  await it.stop();
});

test('heartbeats are due once in each period, and the last one is kept', async () => {
  const it = await subscribed();
  await it.publish();
  const isDue = async () =>
    (await sql`SELECT FROM webhook_endpoints WHERE id = ${it.id} AND ${isHeartbeatDue}`.execute(db)).rows.length > 0;
  await sql`UPDATE webhook_endpoints SET next_heartbeat_at = now() WHERE id = ${it.id}`.execute(db);
  expect(await isDue()).toBe(false);
  await it.until(async () => expect((await it.find())?.subscription?.isRequested).toBe(false));
  const waiting = sql`SELECT FROM webhook_deliveries WHERE endpoint_id = ${it.id} AND state = 'pending'`;
  for (const round of [1, 2, 3]) {
    await sql`UPDATE webhook_endpoints SET next_heartbeat_at = now() WHERE id = ${it.id}`.execute(db);
    expect(await isDue()).toBe(true);
    await Promise.all([writeHeartbeats(db), writeHeartbeats(db)]);
    expect(await isDue()).toBe(false);
    await it.publish();
    // While its delivery is not stored, no other heartbeat is written.
    await it.until(async () => expect([it.sent.length, (await waiting.execute(db)).rows]).toEqual([1 + round, []]));
  }
  expect(it.sent.at(-1)).toMatchObject({ number: null, total: 0, event: { type: 'subscription.heartbeat' } });
  const kept = sql`SELECT FROM events WHERE endpoint_id = ${it.id} AND type = 'subscription.heartbeat'`;
  expect((await kept.execute(db)).rows).toHaveLength(1);
  await it.stop();
});

test('the last retry of a notification that fails is an error; a later success of the handshake alone ends it', async () => {
  let fails = false;
  const it = await subscribed({ answer: async () => (fails ? { failure: 'status', status: 500 } : { status: 200 }) });
  await it.publish();
  await it.until(async () => expect((await it.find())?.subscription?.isRequested).toBe(false));
  fails = true;
  await bookings(['ward', 'r-1']);
  await it.publish();
  await it.until(async () => expect((await it.find())?.disabledReason).toBe('failed'));
  fails = false;
  await db.transaction().execute((tx) => setStatus(tx, it.id, 'enabled'));
  expect(await it.find()).toMatchObject({ disabledReason: null, subscription: { isRequested: true } });
  await it.publish();
  await it.until(async () => expect((await it.find())?.subscription?.isRequested).toBe(false));
  await it.stop();
});

test('it is encrypted with a new secret key', async () => {
  const it = await subscribed();
  const newer = randomBytes(32);
  const before = await it.find();
  expect(before?.subscription?.details).toEqual(details);
  await resealEndpoints(db, createKeyRing([newer, older]), 100);
  expect(await findEndpoint(db, createKeyRing([newer]), it.id, it.id)).toEqual(before);
  await it.stop();
});
