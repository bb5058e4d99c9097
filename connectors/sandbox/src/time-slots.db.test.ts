import { randomUUID } from 'node:crypto';
import type { Connector, TimeSlot } from '@crossward/connector-kit';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { observeStatements } from '../../../test/database/statements.ts';
import { sandboxSubject } from '../test/conformance-subject.ts';

const { database, dispose } = await createTestDatabase();
afterAll(dispose);
// Two processes with the same sandbox.
const { careUnit, ...first } = await sandboxSubject('sandbox', database.pool);
const second = await sandboxSubject('sandbox', database.pool);
const here = first.connector as Required<Connector>;
const there = second.connector as Required<Connector>;

const day = 24 * 60 * 60 * 1000;
/** From a Monday: at the weekend, only the resource that works at night has slots. */
const start = new Date(Date.now() + 7 * day);
start.setUTCHours(0, 0, 0, 0);
start.setUTCDate(start.getUTCDate() + ((8 - start.getUTCDay()) % 7));
const range = { start, end: new Date(start.getTime() + 14 * day) };

function slots(connector: Required<Connector>, limit: number, resourceIds?: string[]): Promise<readonly TimeSlot[]> {
  return connector.listTimeSlots({ careUnit, ...range, ...(resourceIds ? { resourceIds } : {}), limit });
}

const keyOf = ({ start, resourceId, healthcareServiceId }: TimeSlot) =>
  `${start.toISOString()} ${resourceId} ${healthcareServiceId}`;

test('a page of free slots is one statement', async () => {
  await slots(here, 1);
  const statements = await observeStatements(database.pool, async () => {
    expect(await slots(here, 101)).toHaveLength(101);
    await slots(here, 1500, ['r-1']);
  });
  expect(statements).toHaveLength(2);
});

test('searches at one time share a statement, and each gets its own slots', async () => {
  const [first] = (await slots(here, 1, ['r-1'])) as [TimeSlot];
  const changes = [{ kind: 'create' as const, patientId: 'p-1', comment: null, holdUntil: null, ...first }];
  await there.changeAppointments({ operationId: randomUUID(), careUnit, changes });
  const alone = [await slots(here, 20, ['r-1']), await slots(here, 20, ['r-2']), await slots(here, 30)];
  const statements = await observeStatements(database.pool, async () => {
    expect(await Promise.all([slots(here, 20, ['r-1']), slots(here, 20, ['r-2']), slots(here, 30)])).toEqual(alone);
  });
  expect(statements).toHaveLength(1);
  expect(alone.map((found) => [...new Set(found.map(({ resourceId }) => resourceId))].length)).toEqual([1, 1, 5]);
  expect(alone[0]?.map(({ start }) => start)).not.toContainEqual(first.start);
});

test('changes of schedules by another process apply at once', async () => {
  const [slot] = await slots(here, 1, ['r-1']);
  if (!slot) throw new Error('No free slot');
  const [schedule] = await there.listSchedules({ careUnit, resourceId: 'r-1', range: slot, limit: 1 });
  const operationId = randomUUID();
  await there.addScheduleException({
    operationId,
    careUnit,
    resourceId: 'r-1',
    scheduleId: schedule?.id ?? '',
    start: slot.start,
    end: slot.end,
  });
  expect((await slots(here, 10, ['r-1'])).map(keyOf)).not.toContain(keyOf(slot));
  await there.withdrawSchedule(careUnit, operationId);
  expect((await slots(here, 10, ['r-1'])).map(keyOf)).toContain(keyOf(slot));
});

test('if most times are taken, a page still has as many slots as there are', async () => {
  const all = await slots(here, 1500, ['r-2']);
  const starts = [...new Set(all.map(({ start }) => start.getTime()))];
  // All but every tenth.
  const changes = all
    .filter((slot) => slot.healthcareServiceId === 'consultation')
    .filter((_, index) => index % 10 > 0)
    .map((slot) => ({ kind: 'create' as const, patientId: 'p-1', comment: null, holdUntil: null, ...slot }));
  await there.changeAppointments({ operationId: randomUUID(), careUnit, changes });
  const taken = new Set(changes.map(({ start }) => start.getTime()));
  const free = all.filter(({ start }) => !taken.has(start.getTime())).map(keyOf);
  expect(free.length).toBeGreaterThan(starts.length / 10);
  expect((await slots(here, 1500, ['r-2'])).map(keyOf)).toEqual(free);
  for (const limit of [1, 3, free.length - 1, free.length]) {
    expect((await slots(here, limit, ['r-2'])).map(keyOf)).toEqual(free.slice(0, limit));
  }
});
