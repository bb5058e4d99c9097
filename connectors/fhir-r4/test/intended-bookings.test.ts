import type { IntendedBooking, TimeSlot } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../fake/server.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

describe.each<[string, FakeOptions]>([
  ['transaction', {}],
  ['slot_claim', { transactions: 'none' }],
])('in mode %s, the slots of an intended booking', (_, options) => {
  async function start() {
    const server = await startFake({ data: { days: 14 }, ...options });
    const connector = await openConnector(settingsFor(server.url));
    const [slot, other] = (await freeSlots(connector, 2)) as [TimeSlot, TimeSlot];
    const slotReads = () => server.seen.filter(({ method, path }) => method === 'GET' && path === '/Slot').length;
    const lookUp = (intended: Partial<IntendedBooking> = {}) => {
      const resource = { type: 'emr_id', value: slot.resourceId } as const;
      return connector.findPatient?.(
        { type: 'emr_id', value: 'p-1' },
        { ...slot, careUnit: north, resource, ...intended },
      );
    };
    server.seen.splice(0);
    return { server, connector, slot, other, slotReads, lookUp };
  }

  test('are read while the patient is looked up, and not again', async () => {
    const { server, connector, slot, slotReads, lookUp } = await start();
    const { promise: heldBackUntil, resolve: readsSlots } = Promise.withResolvers<void>();
    server.misbehave = ({ path }) => {
      if (path === '/Slot') readsSlots();
      return path.startsWith('/Patient') ? { heldBackUntil } : undefined;
    };
    expect(await lookUp()).toMatchObject({ id: 'p-1' });
    expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
    expect(slotReads()).toBe(1);
  });

  test('are read again if somebody takes the time in between', async () => {
    const { connector, slot, slotReads, lookUp } = await start();
    await lookUp();
    await write(connector, [{ ...creation(slot), patientId: 'p-2' }]);
    await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    expect(slotReads()).toBe(3);
  });

  test('are read again if they could not be read', async () => {
    const { server, connector, slot, lookUp } = await start();
    server.misbehave = ({ path }) => (path === '/Slot' ? { status: 503 } : undefined);
    expect(await lookUp()).toMatchObject({ id: 'p-1' });
    server.misbehave = () => undefined;
    expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
  });

  test('are not used for another time, resource or patient', async () => {
    const { connector, slot, other, slotReads, lookUp } = await start();
    await lookUp();
    await write(connector, [creation(other)]);
    expect(slotReads()).toBe(2);
    await write(connector, [{ ...creation(slot), patientId: 'p-2' }]);
    expect(slotReads()).toBe(3);
    await lookUp({ resource: { type: 'emr_id', value: 'r-2' } });
    await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    expect(slotReads()).toBe(5);
  });

  test('of an unknown resource are not read', async () => {
    const { slotReads, lookUp } = await start();
    expect(await lookUp({ resource: { type: 'emr_id', value: 'nobody' } })).toMatchObject({ id: 'p-1' });
    expect(slotReads()).toBe(0);
  });
});
