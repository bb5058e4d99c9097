import type { TimeSlot } from '@crossward/connector-kit';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { currentContext, within } from '../context/work-context.ts';
import { createDb } from '../db/kysely.ts';
import { newDatabaseTime } from '../db/time-limit.ts';
import { createAsker, type UnitWanted } from './ask.ts';

const { database, dispose } = await createTestDatabase();
afterAll(() => dispose());
const db = createDb(database);
const asker = createAsker(db, pino({ level: 'silent' }));

const dayMs = 24 * 60 * 60 * 1000;
const dayAt = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

/** A care unit whose EHR gives these answers, one after the other. */
function unitWith(id: string, answers: Promise<readonly TimeSlot[]>[]): UnitWanted {
  const careUnit = { id, timeZone: 'UTC' };
  return {
    ehr: { id: 'north', call: () => answers.shift() },
    careUnit,
    serviceIds: undefined,
  } as unknown as UnitWanted;
}

test('what an EHR has answered is kept, and takes no time from the search', async () => {
  const databaseTime = newDatabaseTime();
  const { milliseconds } = databaseTime;
  const wanted = { firstDay: dayAt(2), endDay: dayAt(4), now: Date.now(), since: 0 };
  await within({ databaseTime }, () => asker.ask(unitWith('one', [Promise.resolve([])]), wanted));
  const kept = () => sql`SELECT day::text FROM kept_timeslots WHERE care_unit_id = 'one' ORDER BY day`.execute(db);
  await expect.poll(async () => (await kept()).rows).toEqual([{ day: dayAt(2) }, { day: dayAt(3) }]);
  expect(databaseTime.milliseconds).toBe(milliseconds);
});

test('what an EHR has answered is kept when the search has ended', async () => {
  const { promise: keptAfter, resolve: end } = Promise.withResolvers<void>();
  const wanted = { firstDay: dayAt(2), endDay: dayAt(3), now: Date.now(), since: 0 };
  await asker.ask(unitWith('searched', [Promise.resolve([])]), { ...wanted, keptAfter });
  await asker.ask(unitWith('other', [Promise.resolve([])]), wanted);
  const kept = async () => {
    const all = sql<{ readonly id: string }>`SELECT care_unit_id AS id FROM kept_timeslots ORDER BY id`.execute(db);
    return (await all).rows.map(({ id }) => id);
  };
  await expect.poll(kept).toContain('other');
  expect(await kept()).not.toContain('searched');
  end();
  await expect.poll(kept).toContain('searched');
});

test('a search that shares an answer asks again if that ends before its day', async () => {
  const { promise, resolve } = Promise.withResolvers<readonly TimeSlot[]>();
  const answers = [promise, Promise.resolve([])];
  const unit = unitWith('two', answers);
  const wanted = { firstDay: dayAt(2), endDay: dayAt(9), now: Date.now(), since: 0 };
  const first = asker.ask(unit, wanted);
  const second = asker.ask(unit, { ...wanted, firstDay: dayAt(5) });
  // A full answer, whose last slot is on the next day.
  const slots = Array.from({ length: 201 }, (_, n): TimeSlot => {
    const start = new Date(Date.parse(dayAt(n === 200 ? 3 : 2)) + (n % 200) * 60_000);
    return { start, end: new Date(start.getTime() + 60_000), resourceId: 'r', healthcareServiceId: 's' };
  });
  expect(answers).toHaveLength(1);
  resolve(slots);
  expect([...(await first).days.keys()]).toEqual([dayAt(2)]);
  expect([...(await second).days.keys()]).toEqual([5, 6, 7, 8].map(dayAt));
  expect(answers).toHaveLength(0);
});

test('a search does not wait in the queue of another client, and what the EHR answers one of them is for both', async () => {
  const turns = new Map<string | undefined, () => void>();
  const asked: unknown[] = [];
  const call = async () => {
    const { clientId, lastCheck } = currentContext();
    await new Promise<void>((resolve) => turns.set(clientId, resolve));
    await lastCheck?.();
    asked.push(clientId);
    return [];
  };
  const unit = { ehr: { id: 'north', call }, careUnit: { id: 'three', timeZone: 'UTC' } } as unknown as UnitWanted;
  const wanted = { firstDay: dayAt(2), endDay: dayAt(9), now: Date.now(), since: 0 };
  const [slow, quick] = ['slow', 'quick'].map((clientId) => within({ clientId }, () => asker.ask(unit, wanted)));
  const again = within({ clientId: 'slow' }, () => asker.ask(unit, wanted));
  expect([...turns.keys()]).toEqual(['slow', 'quick']);
  turns.get('quick')?.();
  turns.get('slow')?.();
  const answers = await Promise.all([slow, quick, again]);
  for (const answer of answers) expect(answer).toBe(answers[0]);
  expect(asked).toEqual(['quick']);
});

test('an EHR that shows the same slots again and again is asked no further', async () => {
  const page = Array.from({ length: 201 }, (_, n): TimeSlot => {
    const start = new Date(Date.parse(dayAt(2)) + n * 60_000);
    return { start, end: new Date(start.getTime() + 60_000), resourceId: 'r', healthcareServiceId: 's' };
  });
  const answers = Array.from({ length: 5 }, () => Promise.resolve(page));
  const wanted = { firstDay: dayAt(2), endDay: dayAt(9), now: Date.now(), since: 0 };
  await expect(asker.ask(unitWith('four', answers), wanted)).rejects.toThrow('shows time slots again');
  expect(answers).toHaveLength(3);
});
