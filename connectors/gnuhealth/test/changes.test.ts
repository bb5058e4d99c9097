import type { Connector } from '@crossward/connector-kit';
import { expect, test } from 'vitest';
import { people } from '../fake/data.ts';
import { bookAsAdmin, creation, freeSlots, open, rowsIn, write } from './bookings.ts';
import { north, south } from './subject.ts';

async function changesAfter(connector: Connector, after?: string) {
  const page = await connector.listAppointmentChanges?.({ careUnits: [north, south], limit: 50, after });
  if (!page) throw new Error('The connector reports no changes');
  return page;
}

test('a write that shows late, with an older time than one that was returned, is returned', async () => {
  const { fake, connector } = await open();
  const [first, second] = await freeSlots(connector, 2);
  const { next } = await changesAfter(connector);
  const other = await write(connector, creation(second));
  const [row] = [...fake.tables.of('gnuhealth.appointment').values()].filter(
    (it) => it.healthprof === 1 && it.appointment_date === (first?.start.getTime() ?? 0) * 1000,
  );
  const between = await changesAfter(connector, next);
  expect(between.changes.map(({ appointment }) => appointment.id)).toEqual([other.id]);
  // A transaction that began before the booking, and ends now.
  const began = (fake.tables.of('gnuhealth.appointment').get(Number(other.id))?.write_date ?? 0) - 1_000_000;
  if (!row) throw new Error('No row');
  fake.tables.put('gnuhealth.appointment', {
    ...row,
    state: 'confirmed',
    patient: people.ola,
    write_date: began,
    write_uid: 8,
  });
  const { changes } = await changesAfter(connector, between.next);
  expect(changes.map(({ appointment }) => appointment.id)).toEqual([String(row.id)]);
});

test('appointments that staff delete, or make free again, are hidden', async () => {
  const { fake, connector } = await open({}, { days: 3 });
  const slots = await freeSlots(connector, 14);
  const made = [];
  for (const slot of [slots[0], slots[12], slots[13]]) made.push(await write(connector, creation(slot)));
  const [a, b, c] = made.map(({ id }) => Number(id)) as [number, number, number];
  const { next } = await changesAfter(connector);
  fake.as('desk', (it) => it.delete('gnuhealth.appointment', [a, c]));
  fake.as('desk', (it) => it.write('gnuhealth.appointment', [b], { state: 'free', patient: null }));
  const page = await changesAfter(connector, next);
  expect(page.changes).toEqual([]);
  expect([...(page.hidden ?? [])].sort()).toEqual([a, b, c].map(String).sort());
  expect((await changesAfter(connector, page.next)).hidden).toEqual([]);
});

test('free times that staff add or delete are no changes of appointments, nor those that a move removes', async () => {
  const { fake, connector } = await open();
  const [from, to] = await freeSlots(connector, 2);
  const { id } = await write(connector, creation(from));
  const { next } = await changesAfter(connector);
  await write(connector, { kind: 'update', appointmentId: id, ...(to ? { time: to } : {}) });
  fake.as('desk', (it) =>
    it.create('gnuhealth.appointment', [{ state: 'free', healthprof: 1, institution: 1, appointment_date: 0 }]),
  );
  const { changes, hidden } = await changesAfter(connector, next);
  expect(changes.map(({ appointment }) => appointment.id)).toEqual([id]);
  expect(hidden).toEqual([]);
});

test('many changes of one moment come in pages, each once', async () => {
  const { fake, connector } = await open({}, { days: 2 });
  const { next } = await changesAfter(connector);
  const ids = [...fake.tables.of('gnuhealth.appointment').keys()];
  fake.as('desk', (it) => it.write('gnuhealth.appointment', ids, { state: 'confirmed', patient: people.ola }));
  const seen: string[] = [];
  for (let after = next, hasMore = true; hasMore; ) {
    const page = await connector.listAppointmentChanges?.({ careUnits: [north, south], limit: 7, after });
    seen.push(...(page?.changes ?? []).map(({ appointment }) => appointment.id));
    after = page?.next ?? '';
    hasMore = page?.hasMore ?? false;
  }
  expect(seen.sort()).toEqual(ids.map(String).sort());
});

test('an appointment that staff book is new, in a free time that was made long before too; one that they change is not', async () => {
  const { fake, connector } = await open();
  const slots = await freeSlots(connector, 5);
  const rows = slots.map((slot) => Number(rowsIn(fake, 'free', slot)[0]?.id));
  const [chosen, reopened, known, attended] = rows as [number, number, number, number];
  const model = 'gnuhealth.appointment';
  const asDesk = (id: number, values: object) => fake.as('desk', (it) => it.write(model, [id], { ...values }));
  const confirmed = { state: 'confirmed', patient: people.ola };
  for (const id of [known, attended]) asDesk(id, confirmed);
  asDesk(reopened, { ...confirmed, state: 'user_cancelled' });
  // All this was long ago.
  const longAgo = 86_400_000_000;
  for (const table of [model, 'ir.model.log']) {
    for (const [id, row] of fake.tables.of(table)) {
      const write_date = row.write_date === null ? null : row.write_date - longAgo;
      fake.tables.of(table).set(id, { ...row, create_date: row.create_date - longAgo, write_date });
    }
  }
  const { next } = await changesAfter(connector);
  const before = Date.now();
  asDesk(chosen, confirmed);
  asDesk(reopened, { state: 'confirmed' });
  asDesk(known, { comments: 'moved to room 2' });
  asDesk(attended, { state: 'checked_in' });
  const created = bookAsAdmin(fake, new Date((slots[4]?.start.getTime() ?? 0) + 86_400_000));
  const { changes } = await changesAfter(connector, next);
  const isNew = new Map(changes.map((it) => [it.appointment.id, (it.createdAt?.getTime() ?? 0) >= before]));
  expect(Object.fromEntries(isNew)).toEqual({
    [chosen]: true,
    [reopened]: true,
    [created]: true,
    [known]: false,
    [attended]: false,
  });
});
