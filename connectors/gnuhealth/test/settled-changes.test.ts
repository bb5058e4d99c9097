import type { AppointmentChange, Connector, TimeSlot } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import { people, professionals } from '../fake/data.ts';
import type { Fault } from '../fake/server.ts';
import { bookAsAdmin, creation, freeSlots, isWrite, open, read, rowsIn, write } from './bookings.ts';
import { north } from './subject.ts';

const model = 'gnuhealth.appointment';
type Fake = Awaited<ReturnType<typeof open>>['fake'];

function settle(connector: Connector, notSeen: AppointmentChange, since: Date): Promise<boolean> | undefined {
  return connector.settleChanges?.({ careUnit: north, made: [], notSeen: [notSeen], since });
}

/** Makes a write of which the gateway gets no answer, and all that follows fails. */
async function interrupt(
  { fake, connector }: { fake: Fake; connector: Connector },
  change: AppointmentChange,
  fault: Fault,
) {
  const since = await aSecondLater();
  let isAway = false;
  fake.misbehave = (call) => {
    if (isAway) return 'cut_before';
    isAway = isWrite(call);
    return isAway ? fault : undefined;
  };
  await expect(write(connector, change)).rejects.toMatchObject({ kind: 'outcome_unknown' });
  fake.misbehave = () => undefined;
  return since;
}

/** The clock of the server is known to the second. */
async function aSecondLater(): Promise<Date> {
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  return new Date();
}

async function opened() {
  const it = await open();
  const [slot, to] = (await freeSlots(it.connector, 2)) as [TimeSlot, TimeSlot];
  return { ...it, slot, to };
}

describe.each(['cut_before', 'late'] as const)('a write that the EHR has not made (%s)', (fault) => {
  test('is ruled out if it books: it cannot arrive any more, and the time can be booked', async () => {
    const it = await opened();
    const { fake, connector, slot } = it;
    const since = await interrupt(it, creation(slot), fault);
    for (let call = 1; call <= 2; call++) expect(await settle(connector, creation(slot), since)).toBe(true);
    fake.finishLate();
    expect(rowsIn(fake, 'free', slot)).toHaveLength(1);
    expect(await write(connector, creation(slot))).toMatchObject({ state: 'booked' });
  });

  test('is ruled out if it books a time that was an appointment before', async () => {
    const it = await opened();
    const { fake, connector, slot } = it;
    const { id } = await write(connector, creation(slot, people.ola));
    fake.as('desk', (at) => at.write(model, [Number(id)], { state: 'free', patient: null }));
    const since = await interrupt(it, creation(slot), fault);
    for (let call = 1; call <= 2; call++) expect(await settle(connector, creation(slot), since)).toBe(true);
    fake.finishLate();
    expect(rowsIn(fake, 'free', slot)).toHaveLength(1);
  });

  test.each(['move', 'cancellation', 'comment'] as const)('is ruled out if it is a %s', async (kind) => {
    const it = await opened();
    const { fake, connector, slot, to } = it;
    const booked = await write(connector, creation(slot));
    const changes: Record<typeof kind, AppointmentChange> = {
      move: { kind: 'update', appointmentId: booked.id, time: to },
      cancellation: { kind: 'cancel', appointmentId: booked.id },
      comment: { kind: 'update', appointmentId: booked.id, comment: 'x' },
    };
    const since = await interrupt(it, changes[kind], fault);
    for (let call = 1; call <= 2; call++) expect(await settle(connector, changes[kind], since)).toBe(true);
    fake.finishLate();
    expect(await read(connector, booked.id)).toEqual(booked);
    expect(rowsIn(fake, 'free', to)).toHaveLength(1);
  });
});

describe('a booking that was made is not ruled out', () => {
  const undone: Record<string, (fake: Fake, id: number) => void> = {
    'and is there': () => undefined,
    'after staff have cancelled it': (fake, id) =>
      fake.as('desk', (at) => at.write(model, [id], { state: 'center_cancelled' })),
    'after staff have made its time free': (fake, id) =>
      fake.as('desk', (at) => at.write(model, [id], { state: 'free', patient: null })),
    'after staff have moved it': (fake, id) =>
      fake.as('desk', (at) => at.write(model, [id], { healthprof: professionals.bo })),
    'after staff have deleted it': (fake, id) => fake.as('desk', (at) => at.delete(model, [id])),
  };
  test.each(Object.entries(undone))('%s', async (_, undo) => {
    const it = await opened();
    const { fake, connector, slot } = it;
    const since = await interrupt(it, creation(slot), 'cut_after');
    const [row] = rowsIn(fake, 'confirmed', slot);
    undo(fake, row?.id ?? 0);
    // They add a free time, as the gateway does.
    fake.as('desk', (at) => {
      const { id: _id, name: _name, ...values } = row ?? { id: 0, name: null };
      at.create(model, [{ ...values, name: null, state: 'free', patient: null }]);
    });
    for (let call = 1; call <= 2; call++) expect(await settle(connector, creation(slot), since)).toBe(false);
  });

  test('while it is being settled', async () => {
    const it = await opened();
    const { fake, connector, slot } = it;
    const since = await interrupt(it, creation(slot), 'late');
    fake.misbehave = (call) => {
      if (isWrite(call)) fake.finishLate();
      return undefined;
    };
    expect(await settle(connector, creation(slot), since)).toBe(false);
    expect(rowsIn(fake, 'confirmed', slot)).toHaveLength(1);
  });
});

test('what others do at the same time with other appointments rules nothing in', async () => {
  const it = await opened();
  const { fake, connector, slot, to } = it;
  const other = await write(connector, creation(to));
  const since = await interrupt(it, creation(slot), 'cut_before');
  // The patient's other appointment is confirmed on the phone, and gets another one.
  fake.as('desk', (at) => at.write(model, [Number(other.id)], { comments: 'by phone' }));
  bookAsAdmin(fake, new Date(to.start.getTime() + 86_400_000), people.kari);
  expect(await settle(connector, creation(slot), since)).toBe(true);
});

test.each(['moved', 'cancelled', 'deleted'] as const)(
  'a change of an appointment that was %s since is not ruled out',
  async (how) => {
    const it = await opened();
    const { fake, connector, slot, to } = it;
    const { id } = await write(connector, creation(slot));
    const move = { kind: 'update', appointmentId: id, time: to } as const;
    const since = await interrupt(it, move, 'cut_before');
    fake.as('desk', (at) => {
      if (how === 'deleted') at.delete(model, [Number(id)]);
      else at.write(model, [Number(id)], how === 'moved' ? { healthprof: professionals.bo } : { state: 'no_show' });
    });
    for (let call = 1; call <= 2; call++) expect(await settle(connector, move, since)).toBe(false);
  },
);

test.each(['move', 'cancellation'])(
  'settling takes the patient out of the free time of a %s that was made',
  async (what) => {
    const it = await opened();
    const { fake, connector, slot, to } = it;
    const { id } = await write(connector, creation(slot));
    const [move, cancellation] = [
      { kind: 'update', appointmentId: id, time: to },
      { kind: 'cancel', appointmentId: id },
    ] as const;
    const made = what === 'move' ? move : cancellation;
    const since = await interrupt(it, made, 'cut_after');
    expect(rowsIn(fake, 'free', slot)).toMatchObject([{ patient: people.kari }]);
    expect(await connector.settleChanges?.({ careUnit: north, made: [made], notSeen: [], since })).toBe(true);
    expect(rowsIn(fake, 'free', slot)).toMatchObject([{ patient: null }]);
  },
);
