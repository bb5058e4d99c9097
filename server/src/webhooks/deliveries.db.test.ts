import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { observeStatements } from '../../../test/database/statements.ts';
import { eventually } from '../../../test/requests/codes.ts';
import type { Client } from '../clients/client-registry.ts';
import { noteGrants } from '../clients/configured-grants.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { publishEvents } from '../events/publish-events.ts';
import { deleteOldEvents } from '../events/retention.ts';
import { writeEvents } from '../events/write-events.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { type Claimed, claimDeliveries } from './claim-deliveries.ts';
import { createDispatcher, type Dispatcher } from './dispatcher.ts';
import { endpointsWithDue, insertEndpoint, sealUrl, updateEndpoint } from './endpoint-store.ts';
import { fanOut } from './fan-out.ts';
import { createWebhookMetrics } from './metrics.ts';
import { countReplay, startReplay } from './replay.ts';
import type { AttemptResult, DeliverySender } from './send-delivery.ts';
import { failPending, settleDelivery } from './settle-delivery.ts';
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

/**
 * An endpoint with a delivery for each of `count` events of an appointment, or of an EHR. Returns its id, which is that of its
 * client too.
 */
async function endpointWith(count: number, isOfEhr = false): Promise<string> {
  const id = randomUUID();
  const made = { id, clientId: id, url, secret: makeSecret(), eventTypes: null };
  await db.transaction().execute((tx) => insertEndpoint(tx, keys, made, 1));
  const event = {
    type: isOfEhr ? 'emr.unavailable' : 'message.failed',
    emr: 'ehr',
    careUnitId: 'ward',
    subject: isOfEhr ? null : `a-${id}`,
  } as const;
  const data = { status: 'unavailable' } as const;
  await writeEvents(
    db,
    Array.from({ length: count }, () => ({ ...event, data })),
  );
  await publishEvents(db, fanOut({ configured: () => [{ ...granted('ward'), id }] }));
  return id;
}

/** @param leaseSeconds 0: another process may claim the delivery at once */
async function claim(endpointId: string, leaseSeconds = 60): Promise<Claimed> {
  const [claimed, ...more] = await claimDeliveries(db, endpointId, leaseSeconds, 10);
  if (!claimed || more.length > 0) throw new Error(`${claimed ? more.length + 1 : 0} deliveries were claimed`);
  return claimed;
}

const url = 'https://hooks.clinic.example/';

const settle = (endpointId: string, delivery: Claimed, result: AttemptResult) =>
  settleDelivery(db, keys, { endpoint: { id: endpointId, clientId: endpointId, url }, delivery, result }, retrySeconds);

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
  for (const _ of retrySeconds) expect(await settle(id, await claim(id), status)).toBe('retry');
  expect(await settle(id, await claim(id), status)).toBe('failed');
  expect(await deliveriesTo(id)).toMatchObject([{ state: 'failed', attempts: 15 }]);
});

test.each([
  ['an appointment', false],
  ["an EHR's availability", true],
] as const)('a later event of %s waits for the earlier one', async (_, isOfEhr) => {
  const id = await endpointWith(2, isOfEhr);
  const first = await claim(id);
  expect(await claimDeliveries(db, id, 60, 10)).toEqual([]);
  await settle(id, first, { status: 200 });
  const second = await claim(id);
  expect(second.event.position).toBe(first.event.position + 1);
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

test('a few of many deliveries that are due at the same time are claimed without a look at the others', async () => {
  const id = await endpointWith(1);
  await sql`
    INSERT INTO webhook_deliveries (endpoint_id, event_id, event_position, subject, next_attempt_at)
    SELECT endpoint_id, event_id, event_position + n, 'a-' || n, next_attempt_at
    FROM webhook_deliveries, generate_series(1, 10000) AS n WHERE endpoint_id = ${id}`.execute(db);
  await sql`ANALYZE webhook_deliveries`.execute(db);
  const { pool } = testDatabase.database;
  const [claiming] = await observeStatements(pool, () => claimDeliveries(db, id, 0, 10));
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${claiming?.text}`,
      [...(claiming?.values ?? [])],
    );
    const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
    const reads = rows.flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan));
    const read = reads
      .filter((node) => node['Relation Name'] === 'webhook_deliveries' && /Scan/.test(node['Node Type']))
      .map((node) => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0));
    expect(read).not.toHaveLength(0);
    expect(Math.max(...read)).toBeLessThan(100);
  } finally {
    client.release();
    await sql`DELETE FROM webhook_endpoints WHERE id = ${id}`.execute(db);
  }
});

/** A dispatcher, with the grants of every client. */
function dispatch(send: DeliverySender['send'], find: () => Client | undefined, registry = new Registry()): Dispatcher {
  return createDispatcher({
    db,
    keys,
    clients: { configured: () => [], find, refresh: async () => undefined },
    sender: { send, close: async () => undefined },
    notify: async () => ({ payload: '' }),
    settings: { timeout_ms: 10_000, retry_seconds: retrySeconds },
    metrics: createWebhookMetrics(registry),
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

test('a delivery that only another gateway grants waits for it, for ten minutes after it was last seen', async () => {
  const id = await endpointWith(1);
  await noteGrants(db, [{ ...granted('ward'), id }]);
  const registry = new Registry();
  const dispatcher = dispatch(
    async () => ({}),
    () => undefined,
    registry,
  );
  await dispatcher.round();
  await eventually(async () => {
    expect(await deliveriesTo(id)).toMatchObject([{ state: 'pending', attempts: 0 }]);
  });
  await sql`UPDATE configured_grants SET seen_at = now() - interval '11 minutes'`.execute(db);
  await sql`UPDATE webhook_deliveries SET next_attempt_at = now() WHERE endpoint_id = ${id} AND attempts = 0`.execute(
    db,
  );
  await dispatcher.round();
  await eventually(async () => {
    expect(await deliveriesTo(id)).toMatchObject([{ state: 'failed', failure_reason: 'not_granted' }]);
  });
  expect(await registry.metrics()).toContain('crossward_webhook_attempts_total{outcome="not_granted"} 1');
  await dispatcher.stop();
});

test('an event is not deleted before it is delivered, but is not kept for good', async () => {
  const [pending, delivered] = [await endpointWith(1), await endpointWith(1)];
  await settle(delivered, await claim(delivered), {});
  const deleteAfter = async (days: number) => {
    await sql`UPDATE events SET occurred_at = now() - make_interval(days => ${days})`.execute(db);
    await deleteOldEvents(db, 2, 1_000);
    return (await Promise.all([pending, delivered].map(deliveriesTo))).map(({ length }) => length);
  };
  expect(await deleteAfter(1)).toEqual([1, 1]);
  expect(await deleteAfter(3)).toEqual([1, 0]);
  expect(await deleteAfter(5)).toEqual([0, 0]);
});

test('replays of an endpoint are made one at a time, and four within an hour', async () => {
  const id = await endpointWith(1);
  const count = () => db.transaction().execute((tx) => countReplay(tx, id));
  const rejected = { reason: 'rate_limited' };
  await db.transaction().execute((tx) => startReplay(tx, id, new Date(0)));
  await expect(count()).rejects.toMatchObject(rejected);
  await db.transaction().execute((tx) => updateEndpoint(tx, id, { replay_after: null, replay_until: null }));
  for (let started = 0; started < 4; started++) await count();
  await expect(count()).rejects.toMatchObject(rejected);
});

test('a replay begins with the first event since a time, also if it was published before an earlier one', async () => {
  const id = await endpointWith(4);
  const { rows } = await sql<{ position: number }>`
    SELECT event_position AS position FROM webhook_deliveries WHERE endpoint_id = ${id} ORDER BY sequence`.execute(db);
  const times = ['09:00:00', '09:59:59', '10:00:02', '10:00:01'].map((time) => new Date(`2030-03-15T${time}Z`));
  for (const [index, occurred_at] of times.entries()) {
    await db
      .updateTable('events')
      .set({ occurred_at })
      .where('position', '=', rows[index]?.position ?? 0)
      .execute();
  }
  const startAt = async (time: string) => {
    await db.transaction().execute((tx) => startReplay(tx, id, new Date(`2030-03-15T${time}Z`)));
    const { replay_after } = await db
      .selectFrom('webhook_endpoints')
      .select('replay_after')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return rows.findIndex(({ position }) => position === Number(replay_after) + 1);
  };
  expect(await startAt('09:30:00')).toBe(1);
  expect(await startAt('10:00:00')).toBe(2);
  expect(await startAt('11:00:00')).toBe(-1);
});

describe('a result that arrives late', () => {
  const gone = { failure: 'status', status: 410 } as const;
  const stateOf = async (id: string) => {
    const { disabled_reason } = await db
      .selectFrom('webhook_endpoints')
      .select('disabled_reason')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return [disabled_reason, ...(await deliveriesTo(id)).map(({ state }) => state)];
  };
  const disable = (id: string) =>
    db.transaction().execute(async (tx) => {
      await updateEndpoint(tx, id, { disabled_reason: 'client' });
      await failPending(tx, id);
    });
  const enable = (id: string) => db.transaction().execute((tx) => updateEndpoint(tx, id, { disabled_reason: null }));

  test('disables the endpoint if it is 410', async () => {
    const id = await endpointWith(2);
    expect(await settle(id, await claim(id), gone)).toBe('failed');
    expect(await stateOf(id)).toEqual(['gone', 'failed', 'failed']);
  });

  test('is a failure if it is 410 of a former URL', async () => {
    const id = await endpointWith(1);
    const delivery = await claim(id);
    const moved = sealUrl(keys, id, 'https://hooks.clinic.example/moved');
    await db.transaction().execute((tx) => updateEndpoint(tx, id, { sealed_url: moved }));
    expect(await settle(id, delivery, gone)).toBe('retry');
    expect(await stateOf(id)).toEqual([null, 'pending']);
  });

  test('changes nothing if the endpoint was disabled and enabled again', async () => {
    const id = await endpointWith(1);
    const delivery = await claim(id);
    await disable(id);
    await enable(id);
    expect(await settle(id, delivery, gone)).toBe('superseded');
    expect(await stateOf(id)).toEqual([null, 'failed']);
  });

  test('is recorded if the event was delivered while the endpoint was disabled', async () => {
    const id = await endpointWith(2);
    const delivery = await claim(id);
    await disable(id);
    expect(await settle(id, delivery, { status: 200 })).toBe('delivered');
    expect(await stateOf(id)).toEqual(['client', 'delivered', 'failed']);
  });

  test('comes before later events, also if the endpoint was disabled and enabled again', async () => {
    const id = await endpointWith(2);
    await claim(id);
    await disable(id);
    await enable(id);
    await sql`UPDATE webhook_deliveries SET state = 'pending' WHERE endpoint_id = ${id} AND attempts = 0`.execute(db);
    expect(await endpointsWithDue(db, keys, id)).toEqual([]);
    await sql`UPDATE webhook_endpoints SET paused_until = now() WHERE id = ${id} AND paused_until > now()`.execute(db);
    expect(await endpointsWithDue(db, keys, id)).toMatchObject([{ id }]);
  });

  test.each([[{ status: 200 }], [{ failure: 'timeout' }], [gone]] as const)(
    'is not counted if the endpoint was deleted: %o',
    async (result) => {
      const id = await endpointWith(1);
      const delivery = await claim(id);
      await db.deleteFrom('webhook_endpoints').where('id', '=', id).execute();
      expect(await settle(id, delivery, result)).toBe('superseded');
    },
  );
});
