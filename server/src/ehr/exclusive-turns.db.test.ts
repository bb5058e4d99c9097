import { ConnectorError } from '@crossward/connector-kit';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { createDb } from '../db/kysely.ts';
import { exclusiveTurns } from './exclusive-turns.ts';

const { database, dispose } = await createTestDatabase();
const db = createDb(database);
afterAll(dispose);

const times = { waitMs: 60_000, requestMs: 1_000 };
/** Two gateways. */
const gateways = [1, 2].map(() => exclusiveTurns(db, 'north', times));
const [one, other] = gateways as [(typeof gateways)[0], (typeof gateways)[0]];

test('of all gateways, one at a time has the turn of a key', async () => {
  let running = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++running);
    await sql`SELECT pg_sleep(0.01)`.execute(db);
    running--;
  };
  await Promise.all(Array.from({ length: 12 }, (_, index) => (index % 2 ? one : other)('r-1', work)));
  expect([running, most]).toEqual([0, 1]);
});

test('turns of other keys and other EHRs do not wait, and the result or error of the work is passed on', async () => {
  await one('r-1', async () => {
    expect(await other('r-2', async () => 'done')).toBe('done');
    expect(await exclusiveTurns(db, 'south', { ...times, waitMs: 0 })('r-1', async () => 'done')).toBe('done');
  });
  const error = new Error('of the work');
  await expect(one('r-1', () => Promise.reject(error))).rejects.toBe(error);
  expect(await other('r-1', async () => 'next')).toBe('next');
});

test('a turn that nobody renews ends, and one that is renewed does not', async () => {
  const brief = exclusiveTurns(db, 'north', { ...times, leaseMs: 300 });
  const impatient = exclusiveTurns(db, 'north', { ...times, waitMs: 0 });
  await brief('r-3', async () => {
    const ends = async () =>
      (await sql<{ at: Date }>`SELECT ends_at AS at FROM ehr_exclusive_turns WHERE key = 'r-3'`.execute(db)).rows[0]
        ?.at;
    const first = await ends();
    while ((await ends())?.getTime() === first?.getTime()) await sql`SELECT pg_sleep(0.01)`.execute(db);
    await expect(impatient('r-3', async () => 'too early')).rejects.toMatchObject({ kind: 'unavailable' });
  });
  // A gateway that was killed.
  await sql`
    INSERT INTO ehr_exclusive_turns VALUES ('north', 'r-4', gen_random_uuid(), clock_timestamp() - interval '1 ms')`.execute(
    db,
  );
  expect(await impatient('r-4', async () => 'taken over')).toBe('taken over');
});

test('without the database nothing begins, and the EHR is not blamed', async () => {
  const away = await createTestDatabase();
  const broken = createDb(away.database);
  await away.dispose();
  let hasBegun = false;
  const turn = exclusiveTurns(broken, 'north', { ...times, waitMs: 1_000 })('r-5', async () => {
    hasBegun = true;
  });
  const error = await turn.catch((it: unknown) => it);
  expect(error).toBeInstanceOf(ConnectorError);
  expect(error).toMatchObject({ kind: 'unavailable', fault: false, nothingChanged: false });
  expect(hasBegun).toBe(false);
});
