import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../../test/database/database.ts';
import { startPostgresProxy } from '../../../../test/postgres-proxy/postgres-proxy.ts';
import { openDatabase } from '../../db/database.ts';
import { createDb } from '../../db/kysely.ts';
import { createKeyRing, type KeyRing } from '../../secrets/key-ring.ts';
import {
  claimLook,
  deleteWatch,
  endLook,
  findWatch,
  insertWatch,
  type Look,
  listWatches,
  mostWatches,
} from './store.ts';

const { database, url = '', dispose } = await createTestDatabase('postgresql');
const proxy = await startPostgresProxy(url);
const cutDatabase = await openDatabase({ databaseUrl: proxy.url, dataDir: '' });
afterAll(async () => {
  await cutDatabase.close();
  await proxy.close();
  await dispose();
});
const db = createDb(database);
const keys = createKeyRing([randomBytes(32)]);
const search = { start: '2030-03-15T08:00:00', end: '2030-04-15T00:00:00' };

async function watch(clientId: string, its: KeyRing = keys) {
  const created = { clientId, search, reference: null, endsAt: new Date(Date.now() + 60 * 60 * 1000) };
  const made = await db.transaction().execute((tx) => insertWatch(tx, its, created));
  return made?.id ?? 'too many';
}

const clear = () => sql`DELETE FROM timeslot_watches`.execute(db);
const makeDue = (id: string) =>
  sql`UPDATE timeslot_watches SET next_look_at = now() - interval '1 second' WHERE id = ${id}`.execute(db);

async function claim(turns = new Set<string>()): Promise<Look> {
  const look = await claimLook(db, keys, turns);
  return typeof look === 'string' ? expect.unreachable(look) : look;
}

const eventOf = ({ id, clientId }: Look) =>
  ({
    type: 'timeslot.found',
    emr: 'north',
    careUnitId: 'unit',
    clientId,
    subject: id,
    data: { watch_id: id, start: '', end: '', resource_id: '', healthcare_service_id: '', count: 1 },
  }) as const;

async function eventsOf(id: string): Promise<number> {
  const { rows } = await sql<{ subject: string }>`SELECT FROM events WHERE subject = ${id}`.execute(db);
  return rows.length;
}

test('clients take turns, so that many watches of one hold up no other', async () => {
  await clear();
  for (const client of ['many', 'many', 'many', 'few', 'other']) await watch(client);
  const turns = new Set<string>();
  const claimed: string[] = [];
  for (let time = 0; time < 5; time++) claimed.push((await claim(turns)).clientId);
  expect(claimed).toEqual(['many', 'few', 'other', 'many', 'many']);
  expect(await claimLook(db, keys, turns)).toBe('none');
});

test('a watch under a lost key is not looked for each minute, does not count, and is shown and deleted', async () => {
  await clear();
  const lost = await watch('client', createKeyRing([randomBytes(32)]));
  expect(await claimLook(db, keys, new Set())).toBe('unreadable');
  const { rows } = await sql<{ is: boolean }>`
    SELECT next_look_at > now() + interval '50 minutes' AS is FROM timeslot_watches WHERE id = ${lost}`.execute(db);
  expect(rows).toEqual([{ is: true }]);
  for (let time = 0; time < mostWatches; time++) expect(await watch('client')).not.toBe('too many');
  expect(await watch('client')).toBe('too many');
  expect(await watch('another client')).not.toBe('too many');
  const shown = { id: lost, search: null, reference: null };
  expect(await findWatch(db, keys, 'client', lost)).toMatchObject(shown);
  const all = await listWatches(db, keys, 'client', undefined, 500);
  expect(all).toHaveLength(mostWatches + 1);
  expect(all.find(({ id }) => id === lost)).toMatchObject(shown);
  await db.transaction().execute(async (tx) => expect(await deleteWatch(tx, 'client', lost)).toBe(true));
  expect(await findWatch(db, keys, 'client', lost)).toBeUndefined();
});

test('a gateway that is killed between its look and the event loses nothing, and one that was only slow repeats nothing', async () => {
  await clear();
  const id = await watch('client');
  const killed = await claim();
  expect(await claimLook(db, keys, new Set())).toBe('none');
  await makeDue(id);
  const next = await claim();
  expect(next.seen).toEqual(killed.seen);
  const seen = { unit: { until: 1, slots: ['slot'] } };
  await endLook(db, keys, next, seen, eventOf(next));
  await endLook(db, keys, killed, seen, eventOf(killed));
  expect(await eventsOf(id)).toBe(1);
});

test.each(['before', 'after', 'in request', 'in answer'] as const)(
  'the event is written with what was seen, if the end of a look is cut: %s',
  async (kind) => {
    await clear();
    const id = await watch('client');
    const look = await claim();
    const cut = proxy.cutNext({ kind }, ({ statements }) =>
      statements.some((it) => /UPDATE timeslot_watches SET seen/.test(it)),
    );
    const seen = { unit: { until: 1, slots: ['slot'] } };
    await endLook(createDb(cutDatabase), keys, look, seen, eventOf(look)).catch(() => undefined);
    await cut.settled;
    await makeDue(id);
    const next = await claim();
    const isStored = Object.keys(next.seen).length > 0;
    expect(isStored).toBe(kind === 'after' || kind === 'in answer');
    expect(await eventsOf(id)).toBe(isStored ? 1 : 0);
    if (!isStored) await endLook(db, keys, next, seen, eventOf(next));
    expect(await eventsOf(id)).toBe(1);
  },
);
