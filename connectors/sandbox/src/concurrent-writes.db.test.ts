import { randomUUID } from 'node:crypto';
import type {
  Appointment,
  AppointmentChange,
  AppointmentCreation,
  Connector,
  TimeSlot,
} from '@crossward/connector-kit';
import { afterAll, describe, expect, test, vi } from 'vitest';
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

const dayMilliseconds = 24 * 60 * 60 * 1000;

async function freeSlots(limit: number): Promise<readonly TimeSlot[]> {
  return here.listTimeSlots({
    careUnit,
    start: new Date(Date.now() + 7 * dayMilliseconds),
    end: new Date(Date.now() + 60 * dayMilliseconds),
    resourceIds: ['r-1'],
    healthcareServiceIds: ['consultation'],
    limit,
  });
}

function write(connector: Connector, ...changes: AppointmentChange[]) {
  return (connector as Required<Connector>).changeAppointments({ operationId: randomUUID(), careUnit, changes });
}

function booking(slot: TimeSlot): AppointmentCreation {
  return { kind: 'create', patientId: 'p-1', comment: null, holdUntil: null, ...slot };
}

test('a booking is one statement, a change of an appointment two', async () => {
  const [slot, other, third] = await freeSlots(3);
  if (!slot || !other || !third) throw new Error('No free slot');
  await write(here, booking(third));
  const statements = await observeStatements(database.pool, async () => {
    const [appointment] = await write(here, booking(slot));
    const appointmentId = appointment?.id ?? '';
    await write(here, { kind: 'update', appointmentId, time: other });
    await write(here, { kind: 'cancel', appointmentId });
  });
  expect(statements).toHaveLength(1 + 2 + 2);
});

test('a slot that another process has taken out of the schedule cannot be booked', async () => {
  const [slot, other] = await freeSlots(2);
  if (!slot || !other) throw new Error('No free slot');
  await write(here, booking(other));
  const [schedule] = await there.listSchedules({ careUnit, resourceId: 'r-1', range: slot, limit: 1 });
  const taken = { operationId: randomUUID(), careUnit, resourceId: 'r-1', scheduleId: schedule?.id ?? '' };
  await there.addScheduleException({ ...taken, start: slot.start, end: slot.end });
  await expect(write(here, booking(slot))).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  expect(await there.withdrawSchedule(careUnit, taken.operationId)).toBe('withdrawn');
  expect(await write(here, booking(slot))).toMatchObject([{ state: 'booked' }]);
});

test('concurrent changes of one appointment are made one after the other', async () => {
  const slots = await freeSlots(25);
  const [slot, ...others] = slots;
  if (!slot) throw new Error('No free slot');
  const [appointment] = await write(here, booking(slot));
  const appointmentId = appointment?.id ?? '';
  const moved = await Promise.all(
    others.map((time, index) => write(index % 2 ? here : there, { kind: 'update', appointmentId, time })),
  );
  expect(moved.flat().map(({ start }) => start)).toEqual(others.map(({ start }) => start));
  const [last] = await here.findAppointments(careUnit, [appointmentId]);
  expect(others.map(({ start }) => start)).toContainEqual(last?.start);
});

test('one of the concurrent bookings of overlapping times is made', async () => {
  const [slot] = await freeSlots(1);
  if (!slot) throw new Error('No free slot');
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => write(index % 2 ? here : there, booking(slot))),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ kind: 'time_slot_unavailable' });
  }
});

test('a change that is committed late is not missed, and none is returned before it', async () => {
  const [slot, other] = await freeSlots(2);
  if (!slot || !other) throw new Error('No free slot');
  const before = await here.listAppointmentChanges({ careUnits: [careUnit], limit: 100 });
  const [late] = await write(here, booking(slot));
  // Open transactions of other tests on the same server hold changes back, too.
  const start = await vi.waitFor(async () => {
    const read = await here.listAppointmentChanges({ careUnits: [careUnit], after: before.next, limit: 100 });
    expect(read.changes.map(({ appointment }) => appointment.id)).toContain(late?.id);
    return read;
  }, 120_000);
  const client = await database.pool.connect();
  await client.query('BEGIN');
  await client.query(`UPDATE sandbox.appointments SET comment = 'late' WHERE id = $1`, [late?.id]);
  const [early] = await write(there, booking(other));
  const during = await here.listAppointmentChanges({ careUnits: [careUnit], after: start.next, limit: 100 });
  expect(during.changes.map(({ appointment }) => appointment.id)).not.toContain(early?.id);
  const { rows } = await client.query<{ changed_at: Date }>(
    'SELECT changed_at FROM sandbox.appointments WHERE id = $1',
    [early?.id],
  );
  expect(during.heldBackSince).toEqual(rows[0]?.changed_at);
  await client.query('COMMIT');
  client.release();
  await vi.waitFor(async () => {
    const after = during.next;
    const { changes, heldBackSince } = await here.listAppointmentChanges({ careUnits: [careUnit], after, limit: 100 });
    expect(changes.map(({ appointment }) => appointment.id).slice(-2)).toEqual([late?.id, early?.id]);
    expect(heldBackSince).toBeUndefined();
  }, 120_000);
});

describe('bookings that are made at the same time', () => {
  test('share statements, and one whose time is taken fails alone', async () => {
    const [taken, ...free] = await freeSlots(9);
    if (!taken) throw new Error('No free slot');
    await write(here, booking(taken));
    let outcomes: PromiseSettledResult<readonly Appointment[]>[] = [];
    const shared = await observeStatements(database.pool, async () => {
      outcomes = await Promise.allSettled(free.map((slot) => write(here, booking(slot))));
    });
    expect(outcomes.map(({ status }) => status)).toEqual(free.map(() => 'fulfilled'));
    expect(shared.length).toBeLessThan(free.length);

    const more = await freeSlots(3);
    const others = await Promise.allSettled(more.toSpliced(1, 0, taken).map((slot) => write(here, booking(slot))));
    expect(others.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(others[1]).toMatchObject({ reason: { kind: 'time_slot_unavailable' } });
    const [first] = await freeSlots(1);
    expect(more).not.toContainEqual(first);
  });

  test('are made once, also if the operation id of one was used before', async () => {
    const [slot, ...free] = await freeSlots(4);
    if (!slot) throw new Error('No free slot');
    const operationId = randomUUID();
    const again = () => here.changeAppointments({ operationId, careUnit, changes: [booking(slot)] });
    const [made] = await again();
    const [repeated, ...others] = await Promise.all([
      again(),
      ...free.map((time) => write(here, booking(time))),
      again(),
    ]);
    expect([repeated, others.pop()]).toEqual([[made], [made]]);
    expect(others.flat().map(({ start }) => start)).toEqual(free.map(({ start }) => start));
  });

  test('take the times of expired holds', async () => {
    const free = await freeSlots(3);
    const holds = await Promise.all(
      free.map((slot) => write(here, { ...booking(slot), holdUntil: new Date(Date.now() + dayMilliseconds) })),
    );
    const client = await database.pool.connect();
    await client.query('UPDATE sandbox.appointments SET held_until = clock_timestamp() WHERE id = ANY($1)', [
      holds.flat().map(({ id }) => id),
    ]);
    client.release();
    const booked = await Promise.all(free.map((slot) => write(here, booking(slot))));
    expect(booked.flat().map(({ state }) => state)).toEqual(['booked', 'booked', 'booked']);
  });
});
