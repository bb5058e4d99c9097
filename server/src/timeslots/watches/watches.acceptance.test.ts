/** @module-tag any-database */
import type { Connector } from '@crossward/connector-kit';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { wrapConnector } from '../../../../test/ehrs/other-ehrs.ts';
import { type Problem, type RequestOptions, startGateway } from '../../../../test/gateway/gateway.ts';
import { book, freeSlot, oslo } from '../../../../test/requests/bookings.ts';
import type { WatchBody } from './contract.ts';
import { insertWatch, mostWatches } from './store.ts';

const ehrs = { calls: 0, held: undefined as Promise<void> | undefined };

function counted(connector: Connector): Connector {
  return {
    ...connector,
    async listTimeSlots(query) {
      ehrs.calls++;
      await ehrs.held;
      return (await connector.listTimeSlots?.(query)) ?? [];
    },
  };
}

const gateway = await startGateway({ connectors: [wrapConnector(counted)] });
const other = await startGateway({ beside: gateway });
afterAll(() => gateway.close());
const db = gateway.deps.services.db;

const dayMs = 24 * 60 * 60 * 1000;
const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString();
const osloUnit = { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum' };
const creation = {
  reference: 'waiting-list-17',
  search: { care_units: [osloUnit], start: inDays(1), end: inDays(14) },
  until: inDays(60),
};

async function watch(body: object = {}, options: RequestOptions = {}): Promise<WatchBody> {
  const sent = { ...creation, ...body };
  const response = await gateway.request<WatchBody>('POST', '/api/watches', { body: sent, ...options });
  expect(response.status, response.text).toBe(201);
  return response.body;
}

const get = (id: string, options: RequestOptions = {}) =>
  gateway.request<WatchBody & Problem>('GET', `/api/watches/${id}`, options);
const end = (id: string, options: RequestOptions = {}) => gateway.request('DELETE', `/api/watches/${id}`, options);

async function rowOf(id: string) {
  const { rows } = await sql<{ looks: number; looked_at: Date | null }>`
    SELECT looks, looked_at FROM timeslot_watches WHERE id = ${id}`.execute(db);
  return rows[0];
}

/** Lets the next look be due, with the EHR to be asked, and waits for its end. */
async function look(id: string): Promise<void> {
  await sql`UPDATE kept_timeslots SET asked_at = asked_at - interval '2 minutes'`.execute(db);
  await sql`UPDATE timeslot_watches SET looked_at = NULL, next_look_at = now() WHERE id = ${id}`.execute(db);
  await expect.poll(async () => (await rowOf(id))?.looked_at ?? null, { timeout: 60_000 }).not.toBeNull();
}

interface Events {
  readonly events: readonly { readonly type: string; readonly data: Record<string, unknown> }[];
}

async function found(client?: 'narrowed') {
  const { body } = await gateway.request<Events>('GET', '/api/events?limit=500', client ? { client } : {});
  return body.events.filter(({ type }) => type === 'timeslot.found');
}

test('a watch tells its client, and no other, of a time that has become free, and of none that was free before', async () => {
  const slot = await freeSlot(gateway, { resourceId: 'r-2' });
  const appointment = await book(gateway, { slot });
  const ends = new Date(Date.parse(slot.end) + dayMs).toISOString();
  const search = { care_units: [osloUnit], start: slot.start, end: ends };
  const { id } = await watch({ search });
  await look(id);
  await look(id);
  expect(await found()).toEqual([]);
  await gateway.request('PATCH', `${oslo}/appointments/${appointment.id}`, { body: { status: 'cancelled' } });
  await look(id);
  await expect
    .poll(() => found(), { timeout: 60_000 })
    .toMatchObject([
      {
        emr: 'sandbox-no',
        care_unit_id: 'oslo-sentrum',
        data: { watch_id: id, start: slot.start, resource_id: 'emr_id:r-2', count: expect.any(Number) },
      },
    ]);
  expect(JSON.stringify(await found())).not.toContain(creation.reference);
  expect(await found('narrowed')).toEqual([]);
  const { body } = await get(id);
  expect(body).toMatchObject({ reference: creation.reference, search, until: ends });
  expect(body.found_at).not.toBeNull();
  await end(id);
});

test('one of two gateways looks, and asks no EHR that has something else to do', async () => {
  const { id } = await watch();
  await look(id);
  const { looks = 0 } = (await rowOf(id)) ?? {};
  await look(id);
  expect((await rowOf(id))?.looks).toBe(looks + 1);
  await other.close();
  const { promise, resolve } = Promise.withResolvers<void>();
  ehrs.held = promise;
  const range = new URLSearchParams({ start: inDays(1), end: inDays(2) });
  const busy = gateway.request('GET', `${oslo}/timeslots?${range}`);
  await expect.poll(() => gateway.deps.ehrs.get('sandbox-no')?.isIdle()).toBe(false);
  const { calls } = ehrs;
  await look(id);
  expect(ehrs.calls).toBe(calls);
  ehrs.held = undefined;
  resolve();
  await busy;
  await end(id);
});

test('an EHR that operators have paused is not asked', async () => {
  const { id } = await watch();
  await look(id);
  const isPaused = () => gateway.deps.ehrs.get('sandbox-no')?.health().pause !== undefined;
  await sql`INSERT INTO ehr_pauses (emr) VALUES ('sandbox-no')`.execute(db);
  await expect.poll(isPaused, { timeout: 60_000 }).toBe(true);
  const { calls } = ehrs;
  await look(id);
  expect(ehrs.calls).toBe(calls);
  await sql`DELETE FROM ehr_pauses`.execute(db);
  await expect.poll(isPaused, { timeout: 60_000 }).toBe(false);
  await look(id);
  expect(ehrs.calls).toBeGreaterThan(calls);
  await end(id);
});

test('watches belong to their client, and end by themselves', async () => {
  const { id } = await watch();
  const list = async (options: RequestOptions = {}) =>
    (await gateway.request<{ watches: WatchBody[] }>('GET', '/api/watches', options)).body.watches.map((it) => it.id);
  expect(await list()).toContain(id);
  expect(await list({ client: 'narrowed' })).toEqual([]);
  expect((await get(id, { client: 'narrowed' })).body.reason).toBe('watch_not_found');
  expect((await end(id, { client: 'narrowed' })).status).toBe(404);
  expect((await gateway.request('GET', '/api/watches', { client: 'notes:read' })).status).toBe(403);
  await sql`UPDATE timeslot_watches SET ends_at = now() WHERE id = ${id}`.execute(db);
  expect((await get(id)).status).toBe(404);
  await expect.poll(() => rowOf(id), { timeout: 60_000 }).toBeUndefined();
});

test('nobody reads the search or the reference in the table', async () => {
  const { id } = await watch({ search: { ...creation.search, resource_ids: ['emr_id:r-77'] } });
  const { rows } = await sql<{ row: string }>`
    SELECT timeslot_watches::text || encode(sealed_search, 'escape') AS row FROM timeslot_watches WHERE id = ${id}`.execute(
    db,
  );
  expect(rows[0]?.row).not.toMatch(/r-77|waiting-list/);
  await end(id);
});

test.each<[object, object]>([
  [{ until: inDays(-1) }, { status: 400, reason: 'time_range_invalid', pointer: '/until' }],
  [{ until: inDays(93) }, { status: 400, reason: 'time_range_invalid', pointer: '/until' }],
  [
    { search: { start: inDays(-2), end: inDays(-1) } },
    { status: 400, reason: 'time_range_invalid', pointer: '/search/end' },
  ],
  [
    { search: { ...creation.search, care_units: [osloUnit, { ...osloUnit, care_unit_id: 'x' }] } },
    { status: 404, reason: 'care_unit_not_found', pointer: '/search/care_units/1/care_unit_id' },
  ],
  [
    { search: { ...creation.search, resource_ids: ['header:x-resource'] } },
    { status: 400, reason: 'header_reference_forbidden' },
  ],
  [{ search: { ...creation.search, limit: 1 } }, { status: 400, reason: 'request_invalid', pointer: '/search/limit' }],
])('a watch is refused %#', async (body, expected) => {
  const response = await gateway.request<Problem>('POST', '/api/watches', { body: { ...creation, ...body } });
  const { reason, errors } = response.body;
  expect({ status: response.status, reason, pointer: errors[0]?.pointer }).toMatchObject(expected);
});

test('a client has so many watches at most', async () => {
  const client = gateway.credentials('everything').id;
  await db.transaction().execute(async (tx) => {
    const made = { clientId: client, search: creation.search, reference: null, endsAt: new Date(inDays(1)) };
    for (let number = 0; number < mostWatches; number++) await insertWatch(tx, gateway.deps.services.keys, made);
    // Nothing is due.
    await sql`UPDATE timeslot_watches SET next_look_at = now() + interval '1 hour'`.execute(tx);
  });
  const response = await gateway.request<Problem>('POST', '/api/watches', { body: creation });
  expect({ status: response.status, reason: response.body.reason }).toEqual({
    status: 409,
    reason: 'watch_limit_reached',
  });
});
