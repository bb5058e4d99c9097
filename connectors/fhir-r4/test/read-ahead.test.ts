import { randomUUID } from 'node:crypto';
import type { AppointmentChange, Connector } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../fake/server.ts';
import { recent } from '../src/booking/recent.ts';
import type { FhirAppointment, FhirResource, FhirSlot } from '../src/fhir.ts';
import { slotsOf } from '../src/mappers/appointment.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

async function writeFirst(
  connector: Connector,
  changes: readonly AppointmentChange[],
  operationId: string = randomUUID(),
) {
  const made = await connector.changeAppointments?.({ operationId, careUnit: north, isFirst: true, changes });
  if (!made) throw new Error('Nothing can be written');
  return made;
}

describe.each<[string, FakeOptions]>([
  ['transaction', {}],
  ['slot claim', { transactions: 'none' }],
  ['slot claim, without slots in the search for appointments', { transactions: 'none', includesSlots: false }],
])('by %s', (_, options) => {
  async function booked() {
    const server = await startFake({ data: { days: 14 }, ...options });
    const connector = await openConnector(settingsFor(server.url));
    const [slot, to] = await freeSlots(connector, 2);
    if (!slot || !to) throw new Error('No free slots');
    const [made] = await writeFirst(connector, [creation(slot)]);
    if (!made) throw new Error('Not booked');
    const stored = () => server.store.get(`Appointment/${made.id}`) as FhirAppointment;
    const save = (resource: object) => server.store.save(resource as FhirResource);
    const lookUp = () => connector.findAppointments?.(north, [made.id]);
    return { server, connector, slot, to, made, stored, save, lookUp };
  }

  test('a change by staff between the look-up and the write is respected', async () => {
    const { connector, made, to, stored, save, lookUp } = await booked();
    await lookUp();
    save({ ...stored(), comment: 'by staff', priority: 3 });
    const move: AppointmentChange = { kind: 'update', appointmentId: made.id, time: { start: to.start, end: to.end } };
    expect(await writeFirst(connector, [move])).toMatchObject([{ start: to.start, comment: 'by staff' }]);
    expect(stored()).toMatchObject({ priority: 3 });
    await lookUp();
    save({ ...stored(), status: 'cancelled' });
    const back = writeFirst(connector, [{ kind: 'update', appointmentId: made.id, comment: 'late' }]);
    await expect(back).rejects.toMatchObject({ kind: 'appointment_cancelled' });
  });

  test('a write succeeds if a conflict ends between the look-up and the write', async () => {
    const { connector, made, stored, save, lookUp } = await booked();
    save({ ...stored(), status: 'pending' });
    await lookUp();
    save({ ...stored(), status: 'booked' });
    const cancel = writeFirst(connector, [{ kind: 'cancel', appointmentId: made.id }]);
    expect(await cancel).toMatchObject([{ state: 'cancelled' }]);
  });

  test('a slot that staff took after the look-up is not freed', async () => {
    const { server, connector, made, stored, save, lookUp } = await booked();
    await lookUp();
    const [reference = ''] = slotsOf(stored());
    const { extension: _claim, ...slot } = server.store.get(reference) as FhirSlot;
    save({ ...slot, status: 'busy-unavailable' });
    expect(await writeFirst(connector, [{ kind: 'cancel', appointmentId: made.id }])).toMatchObject([
      { state: 'cancelled' },
    ]);
    expect(server.store.get(reference)).toMatchObject({ status: 'busy-unavailable' });
  });

  test('the connector looks for earlier effects of a retry only', async () => {
    const { server, connector, to } = await booked();
    const lookUps = () =>
      server.seen.filter(({ path, query }) => path === '/Appointment' && query.includes('identifier'));
    server.seen.splice(0);
    const operationId = randomUUID();
    const [made] = await writeFirst(connector, [creation(to)], operationId);
    expect(lookUps()).toEqual([]);
    const [again] = await write(connector, [creation(to)], operationId);
    expect(again?.id).toBe(made?.id);
    expect(lookUps()).toHaveLength(1);
  });

  test.each(['cut_after', 'cut_during'] as const)('a first call whose connection is %s books once', async (fault) => {
    const { server, connector, to } = await booked();
    const before = server.store.all('Appointment').length;
    const isWrite = (method: string, path: string) => method === 'POST' && ['/', '/Appointment'].includes(path);
    let isDone = false;
    server.misbehave = ({ method, path }) => {
      if (isDone || !isWrite(method, path)) return undefined;
      isDone = true;
      return fault;
    };
    const operationId = randomUUID();
    const retry = async () => {
      await server.atRest();
      return write(connector, [creation(to)], operationId);
    };
    const [made] = await writeFirst(connector, [creation(to)], operationId).catch(retry);
    await server.atRest();
    expect(server.store.all('Appointment')).toHaveLength(before + 1);
    expect(server.store.has(`Appointment/${made?.id}`)).toBe(true);
  });
});

test('data that was read ahead is used once, and only for a moment', () => {
  let now = 0;
  const kept = recent<string>(() => now);
  kept.put('a', 'first');
  kept.put('a', 'second');
  expect([kept.take('a'), kept.take('a')]).toEqual(['second', undefined]);
  kept.put('b', 'old');
  now = 60_000;
  expect(kept.take('b')).toBeUndefined();
  for (let index = 0; index <= 1000; index++) kept.put(`key ${index}`, 'value');
  expect([kept.take('key 0'), kept.take('key 1')]).toEqual([undefined, 'value']);
});
