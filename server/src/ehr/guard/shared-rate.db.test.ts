import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../../../test/database/database.ts';
import { createDb } from '../../db/kysely.ts';
import type { RateReport } from './rate-exchange.ts';
import { sharedRate } from './shared-rate.ts';

const { database, dispose } = await createTestDatabase();
const db = createDb(database);
afterAll(dispose);
beforeEach(async () => {
  await sql`DELETE FROM ehr_rates`.execute(db);
  await sql`DELETE FROM ehr_rate_demands`.execute(db);
});

const [one, other] = [sharedRate(db, 'north'), sharedRate(db, 'north')];
const wanting = (demand: number, more: Partial<RateReport> = {}): RateReport => ({
  demand,
  isWaiting: true,
  slowdown: undefined,
  ...more,
});
const slowedTo = (rate: number, isShared: boolean, pauseSeconds = 0) =>
  wanting(1, { slowdown: { rate, isShared, pauseSeconds } });
/** Lets this many seconds pass for the rate. */
const later = (seconds: number) =>
  sql`UPDATE ehr_rates SET slowed_at = slowed_at - make_interval(secs => ${seconds}),
    raised_at = raised_at - make_interval(secs => ${seconds}),
    paused_until = paused_until - make_interval(secs => ${seconds})`.execute(db);

test('without a limit there is no rate', async () => {
  expect(await one(wanting(10))).toEqual({ rate: undefined, share: 1, pauseSeconds: 0 });
});

test('processes that notice a limit together have sent their sum; later the lowest estimate counts', async () => {
  await one(slowedTo(8, false));
  expect((await other(slowedTo(12, false))).rate).toBe(20);
  await later(5);
  expect((await other(slowedTo(5, false))).rate).toBe(20);
  await one(slowedTo(18, true));
  expect((await other(slowedTo(19, true))).rate).toBe(18);
});

test('each process gets the share of what it wants, for a few seconds', async () => {
  await one(slowedTo(20, false));
  await one(wanting(30));
  expect((await other(wanting(10))).share).toBe(0.25);
  expect((await one(wanting(30))).share).toBe(0.75);
  await sql`UPDATE ehr_rate_demands SET reported_at = now() - interval '4 seconds'`.execute(db);
  expect((await other(wanting(10))).share).toBe(1);
});

test('the pause that the EHR asks for is that of all processes', async () => {
  await one(slowedTo(20, false, 40));
  const { pauseSeconds } = await other(wanting(1));
  expect(pauseSeconds).toBeGreaterThan(30);
  expect(pauseSeconds).toBeLessThanOrEqual(40);
});

test('the rate rises while requests wait and the EHR does not limit it, by steps that double', async () => {
  await one(slowedTo(20, false, 1));
  expect((await one(wanting(30))).rate).toBe(20);
  await later(2);
  expect((await one(wanting(30))).rate).toBe(20);
  await later(2);
  expect((await one(wanting(30, { isWaiting: false }))).rate).toBe(20);
  expect((await one(wanting(30))).rate).toBe(20.5);
  expect((await other(wanting(30))).rate).toBe(20.5);
  await later(1);
  expect((await other(wanting(30))).rate).toBeCloseTo(21.525);
  await one(slowedTo(20, true, 1));
  await later(4);
  expect((await other(wanting(30))).rate).toBe(20.5);
});

test.each([1, 9])('one limited request costs seconds, also at a rate of %i', async (rate) => {
  await one(slowedTo(rate, false, 1));
  await later(2);
  for (let second = 0; second < 9; second++) {
    await later(1);
    await one(wanting(30));
  }
  expect((await one(wanting(30))).rate).toBeGreaterThan(20);
});

test('the rate does not rise before the EHR has counted anew', async () => {
  await one(slowedTo(20, false, 30));
  await later(59);
  expect((await one(wanting(30))).rate).toBe(20);
  await later(2);
  expect((await one(wanting(30))).rate).toBe(20.5);
});

test('a limit that the EHR no longer enforces is forgotten', async () => {
  await one(slowedTo(20, false));
  await later(601);
  expect((await one(wanting(30))).rate).toBeUndefined();
  expect((await other(slowedTo(50, true))).rate).toBe(50);
});

test('the rate of another EHR is its own', async () => {
  await one(slowedTo(20, false));
  expect((await sharedRate(db, 'south')(wanting(1))).rate).toBeUndefined();
});
