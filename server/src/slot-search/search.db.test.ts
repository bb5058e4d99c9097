import type { TimeSlot } from '@crossward/connector-kit';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { createDb } from '../db/kysely.ts';
import { createAsker } from './ask.ts';
import type { UnitSearch } from './progress.ts';
import { findFreeSlots } from './search.ts';

const { database, dispose } = await createTestDatabase();
afterAll(() => dispose());
const db = createDb(database);
const asker = createAsker(db, pino({ level: 'silent' }));

const dayMs = 24 * 60 * 60 * 1000;
const startOfDay = (days: number) => Date.parse(new Date(Date.now() + days * dayMs).toISOString().slice(0, 10));
const [first, second] = [startOfDay(2), startOfDay(3)] as const;
const hour = 60 * 60 * 1000;

const slotAt = (start: number): TimeSlot => ({
  start: new Date(start),
  end: new Date(start + hour),
  resourceId: 'r',
  healthcareServiceId: 's',
});

/** A care unit with a slot on each of two days, whose EHR does something while it answers. */
function unitWith(id: string, meanwhile: () => Promise<unknown>) {
  const asked = { times: 0 };
  const call = async (operation: string) => {
    if (operation === 'listResources') return [];
    asked.times++;
    await meanwhile();
    return [slotAt(first), slotAt(second)];
  };
  const health = () => ({ breaker: 'closed' });
  const ehr = { id: 'north', source: 'server', times: { settlingSeconds: 0 }, capabilities: {}, health, call };
  const unit = {
    ehr,
    careUnit: { id, timeZone: 'UTC' },
    serviceIds: undefined,
    start: new Date(first),
    end: new Date(second + dayMs),
    needsResources: false,
    accepts: () => true,
  } as unknown as UnitSearch;
  return { unit, asked };
}

async function bookAt(careUnitId: string, start: number): Promise<void> {
  const [from, end] = [start, start + hour].map((time) => new Date(time).toISOString());
  await sql`INSERT INTO events (type, emr, care_unit_id, data)
    VALUES ('appointment.created', 'north', ${careUnitId}, ${JSON.stringify({ start: from, end })}::jsonb)`.execute(db);
}

async function search(units: readonly UnitSearch[], more: { readonly limit?: number; readonly waitMs?: number } = {}) {
  const { found, unanswered } = await findFreeSlots(db, asker, {
    units,
    maxAgeSeconds: 0,
    waitMs: 60_000,
    after: undefined,
    limit: 10,
    mayAsk: async () => undefined,
    ...more,
  });
  return {
    found: found.map(({ unit, slot }) => [unit.careUnit.id, slot[0]]),
    unanswered: unanswered.map(({ unit, reason }) => [unit.careUnit.id, reason]),
  };
}

test('a care unit is asked again once for what was booked meanwhile, and is shown as it is then', async () => {
  let isFirst = true;
  const { unit, asked } = unitWith('once', async () => {
    if (isFirst) await bookAt('once', first);
    isFirst = false;
  });
  expect(await search([unit])).toEqual({
    found: [
      ['once', first],
      ['once', second],
    ],
    unanswered: [],
  });
  expect(asked.times).toBe(2);
});

test('in a rush, a care unit is asked twice, named as changing, and shown without the days that may be booked', async () => {
  const { unit, asked } = unitWith('rush', () => bookAt('rush', first));
  const quiet = unitWith('quiet', async () => undefined);
  expect(await search([unit, quiet.unit])).toEqual({
    found: [
      ['quiet', first],
      ['quiet', second],
      ['rush', second],
    ],
    unanswered: [['rush', 'time_slots_changing']],
  });
  expect([asked.times, quiet.asked.times]).toEqual([2, 1]);
});

test('a care unit that has answered is not asked again after the wait, nor named as one that has not answered', async () => {
  const { promise: never } = Promise.withResolvers<void>();
  const silent = unitWith('silent', () => never);
  const { unit, asked } = unitWith('answered', () => bookAt('answered', first));
  expect(await search([unit, silent.unit], { waitMs: 1_500 })).toEqual({
    found: [['answered', second]],
    unanswered: [
      ['answered', 'time_slots_changing'],
      ['silent', 'ehr_timeout'],
    ],
  });
  expect(asked.times).toBe(1);
});
