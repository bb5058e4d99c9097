import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../../../test/database/database.ts';
import { createDb } from '../../db/kysely.ts';
import { sharedTurns } from './shared-turns.ts';

const { database, dispose } = await createTestDatabase();
const db = createDb(database);
afterAll(dispose);
beforeEach(async () => {
  await sql`DELETE FROM ehr_turns`.execute(db);
});

const [one, other] = [sharedTurns(db, 'north'), sharedTurns(db, 'north')];
/** A turn an hour, so that the time of the test does not matter. */
const hourly = 1 / 3600;
const hours = (seconds: number) => Math.round(seconds / 3600);

test('the first turn is at once, and those of all processes follow at the rate', async () => {
  expect(await one(1, hourly)).toBeLessThanOrEqual(0);
  const waits = await Promise.all([other(1, hourly), one(1, hourly), other(1, hourly)]);
  expect(waits.map(hours).sort()).toEqual([1, 2, 3]);
});

test('several turns come together, and the next one after the time of all', async () => {
  expect(await one(5, hourly)).toBeLessThanOrEqual(0);
  expect(hours(await other(2, hourly))).toBe(5);
  expect(hours(await one(1, hourly))).toBe(7);
});

test('turns that nobody has taken are not saved', async () => {
  await one(1, hourly);
  await sql`UPDATE ehr_turns SET next_at = next_at - interval '9 hours'`.execute(db);
  expect(await other(1, hourly)).toBeLessThanOrEqual(0);
  expect(hours(await one(1, hourly))).toBe(1);
});

test('the turns of another EHR are its own', async () => {
  await one(1, hourly);
  expect(await sharedTurns(db, 'south')(1, hourly)).toBeLessThanOrEqual(0);
});
