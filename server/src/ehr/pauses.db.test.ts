import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { createDb } from '../db/kysely.ts';
import { createPauses, pauseEhr, resumeEhr } from './pauses.ts';

const { database, dispose } = await createTestDatabase();
afterAll(() => dispose());
const db = createDb(database);
const minutes = (count: number) => new Date(Date.now() + count * 60_000);

test('a pause ends by itself at its time, and a new one begins anew', async () => {
  let now = new Date();
  const pauses = createPauses(db, () => now);
  const until = minutes(60);
  expect(await pauseEhr(db, 'north', until)).toBe(true);
  expect(pauses.of('north')).toBeUndefined();
  await pauses.refresh();
  expect(pauses.of('north')).toEqual({ since: expect.any(Date), until });
  expect(pauses.of('south')).toBeUndefined();
  now = until;
  expect(pauses.of('north')).toBeUndefined();

  await sql`UPDATE ehr_pauses SET paused_at = now() - interval '2 hours', paused_until = now() - interval '1 hour'`.execute(
    db,
  );
  expect(await resumeEhr(db, 'north')).toBe(false);
  expect(await pauseEhr(db, 'north', null)).toBe(true);
  await pauses.refresh();
  const { since } = pauses.of('north') ?? {};
  expect(since?.getTime()).toBeGreaterThan(minutes(-60).getTime());
});

test('the end of a pause can be changed, but not to a time that has passed', async () => {
  const pauses = createPauses(db, () => new Date());
  await pauseEhr(db, 'east', null);
  await pauses.refresh();
  const { since } = pauses.of('east') ?? {};
  const until = minutes(5);
  expect(await pauseEhr(db, 'east', until)).toBe(true);
  expect(await pauseEhr(db, 'east', minutes(-5))).toBe(false);
  await pauses.refresh();
  expect(pauses.of('east')).toEqual({ since, until });
  expect(await resumeEhr(db, 'east')).toBe(true);
  expect(await resumeEhr(db, 'east')).toBe(false);
  await pauses.refresh();
  expect(pauses.of('east')).toBeUndefined();
});
