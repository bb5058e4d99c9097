import { describe, expect, test } from 'vitest';
import { people } from '../fake/data.ts';
import type { Fault } from '../fake/server.ts';
import { bookAsAdmin, creation, freeSlots, isWrite, open, read, rowsIn, write } from './bookings.ts';

/** Gives one fault to the first write that comes. */
function once(fault: Fault) {
  let isOver = false;
  return (call: Parameters<typeof isWrite>[0]) => {
    if (isOver || !isWrite(call)) return undefined;
    isOver = true;
    return fault;
  };
}

const lost = ['cut_before', 'cut_after', 'late', { status: 500 }] as const;

describe.each(lost)('a write that gets no answer (%j)', (fault) => {
  test('of a booking is done once, and nothing arrives later', async () => {
    const { fake, connector } = await open();
    const [slot] = await freeSlots(connector, 1);
    fake.misbehave = once(fault);
    const result = await write(connector, creation(slot)).catch((error: unknown) => error);
    fake.finishLate();
    if (result instanceof Error) expect(result).toMatchObject({ kind: 'outcome_unknown' });
    else expect(result).toMatchObject({ state: 'booked', patientId: String(people.kari) });
    expect(slot && rowsIn(fake, 'confirmed', slot)).toHaveLength(1);
    expect(slot && rowsIn(fake, 'free', slot)).toHaveLength(0);
    // Only a booking that was done without an answer could be somebody else's.
    expect(result instanceof Error).toBe(fault === 'cut_after');
  });

  test('of a move is done once', async () => {
    const { fake, connector } = await open();
    const [from, to] = await freeSlots(connector, 2);
    const { id } = await write(connector, creation(from));
    fake.misbehave = once(fault);
    const moved = await write(connector, { kind: 'update', appointmentId: id, ...(to ? { time: to } : {}) });
    fake.finishLate();
    expect(moved).toMatchObject({ id, start: to?.start, state: 'booked' });
    expect(await read(connector, id)).toEqual(moved);
    expect(from && rowsIn(fake, 'free', from)).toMatchObject([{ patient: null }]);
    expect(to && rowsIn(fake, 'free', to)).toHaveLength(0);
  });

  test('of a cancellation is done once, and frees the time once', async () => {
    const { fake, connector } = await open();
    const [slot] = await freeSlots(connector, 1);
    const { id } = await write(connector, creation(slot));
    fake.misbehave = once(fault);
    expect(await write(connector, { kind: 'cancel', appointmentId: id })).toMatchObject({ id, state: 'cancelled' });
    fake.finishLate();
    expect(slot && rowsIn(fake, 'free', slot)).toMatchObject([{ patient: null }]);
  });
});

test.each(['move', 'cancellation'] as const)(
  'the retry of a %s takes the patient out of the free time',
  async (kind) => {
    const { fake, connector } = await open();
    const [from, to] = await freeSlots(connector, 2);
    const { id } = await write(connector, creation(from));
    const change =
      kind === 'move'
        ? ({ kind: 'update', appointmentId: id, ...(to ? { time: to } : {}) } as const)
        : ({ kind: 'cancel', appointmentId: id } as const);
    let isAway = false;
    fake.misbehave = (call) => {
      if (isAway) return 'cut_before';
      isAway = isWrite(call);
      return isAway ? 'cut_after' : undefined;
    };
    await expect(write(connector, change)).rejects.toMatchObject({ kind: 'outcome_unknown' });
    fake.misbehave = () => undefined;
    expect(from && rowsIn(fake, 'free', from)).toMatchObject([{ patient: people.kari }]);
    await write(connector, change);
    expect(from && rowsIn(fake, 'free', from)).toMatchObject([{ patient: null }]);
  },
);

describe('an EHR that stays away after a write', () => {
  test.each(['cut_before', 'cut_after', 'late'] as const)('leaves its outcome unknown (%s)', async (fault) => {
    const { fake, connector } = await open();
    const [slot] = await freeSlots(connector, 1);
    let isAway = false;
    fake.misbehave = (call) => {
      if (isAway) return 'cut_before';
      isAway = isWrite(call);
      return isAway ? fault : undefined;
    };
    await expect(write(connector, creation(slot))).rejects.toMatchObject({ kind: 'outcome_unknown' });
    fake.misbehave = () => undefined;
    fake.finishLate();
    expect(slot && rowsIn(fake, 'confirmed', slot)).toHaveLength(fault === 'cut_before' ? 0 : 1);
  });
});

describe('a row that somebody else changes while the write is on its way', () => {
  test('is not booked: the other patient keeps it, also against the late write', async () => {
    const { fake, connector } = await open();
    const [slot] = await freeSlots(connector, 1);
    const first = once('late');
    fake.misbehave = (call) => {
      const fault = first(call);
      const [row] = slot ? rowsIn(fake, 'free', slot) : [];
      if (fault && row) {
        fake.as('desk', (it) =>
          it.write('gnuhealth.appointment', [row.id], { state: 'confirmed', patient: people.ola }),
        );
      }
      return fault;
    };
    await expect(write(connector, creation(slot))).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    fake.finishLate();
    expect(slot && rowsIn(fake, 'confirmed', slot)).toMatchObject([{ patient: people.ola }]);
  });

  test('is not moved by a late write after it was cancelled', async () => {
    const { fake, connector } = await open();
    const [from, to] = await freeSlots(connector, 2);
    const { id } = await write(connector, creation(from));
    const first = once('late');
    fake.misbehave = (call) => {
      const fault = first(call);
      if (fault) fake.as('desk', (it) => it.write('gnuhealth.appointment', [Number(id)], { state: 'no_show' }));
      return fault;
    };
    const move = write(connector, { kind: 'update', appointmentId: id, ...(to ? { time: to } : {}) });
    await expect(move).rejects.toMatchObject({ kind: 'appointment_cancelled' });
    fake.finishLate();
    expect(await read(connector, id)).toMatchObject({ state: 'cancelled', start: from?.start });
    expect(to && rowsIn(fake, 'free', to)).toHaveLength(1);
  });

  test('is changed in its new form, if the change still applies', async () => {
    const { fake, connector } = await open();
    const [slot] = await freeSlots(connector, 1);
    const { id } = await write(connector, creation(slot));
    let isOver = false;
    fake.misbehave = (call) => {
      if (isOver || !isWrite(call)) return undefined;
      isOver = true;
      fake.as('desk', (it) => it.write('gnuhealth.appointment', [Number(id)], { comments: 'by the desk' }));
      return undefined;
    };
    const cancelled = await write(connector, { kind: 'cancel', appointmentId: id });
    expect(cancelled).toMatchObject({ state: 'cancelled', comment: 'by the desk' });
  });
});

test('a booking that overlaps what staff book at the same moment gives way', async () => {
  const { fake, connector } = await open();
  const [slot] = await freeSlots(connector, 1);
  let isOver = false;
  fake.misbehave = (call) => {
    if (isOver || !isWrite(call) || !slot) return undefined;
    isOver = true;
    const middle = slot.start.getTime() + 10 * 60_000;
    fake.as('desk', (it) =>
      it.create('gnuhealth.appointment', [
        {
          state: 'confirmed',
          patient: people.ola,
          healthprof: 1,
          institution: 1,
          speciality: 1,
          appointment_date: middle * 1000,
          appointment_date_end: (middle + 10 * 60_000) * 1000,
        },
      ]),
    );
    return undefined;
  };
  await expect(write(connector, creation(slot))).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  expect(slot && rowsIn(fake, 'confirmed', slot)).toEqual([]);
  expect(slot && rowsIn(fake, 'free', slot)).toMatchObject([{ patient: null }]);
});

test('a move that overlaps what staff book at the same moment goes back', async () => {
  const { fake, connector } = await open();
  const [from, to] = await freeSlots(connector, 2);
  const { id } = await write(connector, creation(from));
  let isOver = false;
  fake.misbehave = (call) => {
    if (!isOver && isWrite(call) && to) bookAsAdmin(fake, new Date(to.start.getTime() + 10 * 60_000));
    isOver ||= isWrite(call);
    return undefined;
  };
  const move = write(connector, { kind: 'update', appointmentId: id, ...(to ? { time: to } : {}) });
  await expect(move).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  expect(await read(connector, id)).toMatchObject({ state: 'booked', start: from?.start });
  expect(to && rowsIn(fake, 'free', to)).toMatchObject([{ patient: null }]);
});

test('every write of an appointment names the version that was read', async () => {
  const { fake, connector } = await open();
  const [from, to] = await freeSlots(connector, 2);
  const { id } = await write(connector, creation(from));
  await write(connector, { kind: 'update', appointmentId: id, ...(to ? { time: to } : {}), comment: 'x' });
  await write(connector, { kind: 'update', appointmentId: id, comment: 'y' });
  await write(connector, { kind: 'cancel', appointmentId: id });
  const writes = fake.seen.filter(isWrite);
  expect(writes.length).toBeGreaterThan(4);
  for (const { params } of writes)
    expect(Object.keys((params.at(-1) as { _timestamp: object })._timestamp)).not.toEqual([]);
});
