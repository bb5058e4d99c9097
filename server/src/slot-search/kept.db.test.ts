import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { createDb } from '../db/kysely.ts';
import { changedDays, type KeptDay, keepDays, readKeptDays } from './kept.ts';

const { database, dispose } = await createTestDatabase();
afterAll(() => dispose());
const db = createDb(database);

const hour = 60 * 60 * 1000;
const day = '2027-03-19';
const startOf = (time: string) => Date.parse(`${day}T${time}Z`);

/** Keeps one slot of a day. */
async function keep(careUnitId: string, slotStart: number, lastDay = day): Promise<KeptDay> {
  const kept: KeptDay = { day, lastDay, askedAt: Date.now(), slots: [[slotStart, slotStart + hour, 'r', 's', null]] };
  await keepDays(db, { emr: 'north', careUnitId, source: 'server', serviceIds: undefined }, [kept]);
  return kept;
}

async function shown(careUnitId: string, source = 'server', settlingSeconds = 60): Promise<readonly string[]> {
  const whose = { emr: 'north', careUnitId, source, serviceIds: undefined };
  const [found] = await readKeptDays(db, [{ ...whose, settlingSeconds, firstDay: day, endDay: '2027-03-21' }], 3600);
  return [...(found?.days.keys() ?? [])];
}

async function appointmentAt(careUnitId: string, start: string, end: string): Promise<void> {
  const data = JSON.stringify({ start, end });
  await sql`INSERT INTO events (type, emr, care_unit_id, data)
    VALUES ('appointment.created', 'north', ${careUnitId}, ${data}::jsonb)`.execute(db);
}

test('a slot that lasts over midnight is not shown after a booking after midnight', async () => {
  await keep('night', startOf('23:30:00'), '2027-03-20');
  await keep('evening', startOf('22:30:00'));
  for (const unit of ['night', 'evening']) {
    expect(await shown(unit)).toEqual([day]);
    await appointmentAt(unit, '2027-03-20T00:00:00+00:00', '2027-03-20T00:30:00+00:00');
  }
  expect([await shown('night'), await shown('evening')]).toEqual([[], [day]]);
});

test('what another server has shown under the same id is not used', async () => {
  await keep('moved', startOf('08:00:00'));
  expect([await shown('moved'), await shown('moved', 'other server')]).toEqual([[day], []]);
});

test('a day on which an open write may have taken time is not shown until the EHR was asked after it had settled', async () => {
  const write = async (careUnitId: string, [from, until]: [string, string], plan: string | null = 'plan') => {
    await sql`INSERT INTO operations (id, client_id, emr, care_unit_id, sealed_plan, takes_from, takes_until, last_sent_at)
      VALUES (${randomUUID()}, 'c', 'north', ${careUnitId}, ${plan}::bytea, ${from}::date, ${until}::date, now())`.execute(
      db,
    );
  };
  for (const unit of ['open', 'other-day', 'ended']) await keep(unit, startOf('08:00:00'));
  await write('open', ['2027-03-18', day]);
  await write('other-day', ['2027-03-20', '2027-03-20']);
  await write('ended', [day, day], null);
  expect(await Promise.all(['open', 'other-day', 'ended'].map((unit) => shown(unit)))).toEqual([[], [day], [day]]);
  const after = await keep('open', startOf('08:00:00'));
  expect([await shown('open'), await shown('open', 'server', 0)]).toEqual([[], [day]]);
  const asked = [after, { ...after, askedAt: after.askedAt - hour }].map((it) => ({
    ...it,
    emr: 'north',
    careUnitId: 'open',
  }));
  expect(await changedDays(db, asked)).toEqual([asked[1]]);
});
