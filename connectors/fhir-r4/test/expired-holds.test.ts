import { expect, test } from 'vitest';
import type { FhirAppointment, FhirSlot } from '../src/fhir.ts';
import { slotsOf, withHold } from '../src/mappers/appointment.ts';
import { claimedSlot, freedSlot } from '../src/mappers/slot.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { expireHold } from './expire-hold.ts';
import { startFake } from './fake.ts';
import { openConnector, settingsFor } from './subject.ts';

test.each(['atomic', 'none'] as const)(
  'releasing an expired hold cancels it and frees its slot, with transactions: %s',
  async (transactions) => {
    const server = await startFake({ transactions, data: { days: 14 } });
    const connector = await openConnector(settingsFor(server.url));
    const [slot] = await freeSlots(connector, 1);
    const [held] = await write(connector, [creation(slot, new Date(Date.now() + 600_000))]);
    const reference = `Appointment/${held?.id}`;
    const { slot: slotReference } = expireHold(server, held?.id ?? '');

    const release = { kind: 'release', appointmentId: held?.id ?? '' } as const;
    expect(await write(connector, [release])).toMatchObject([{ state: 'cancelled' }]);
    expect(server.store.get(reference).status).toBe('cancelled');
    expect(server.store.get(slotReference).status).toBe('free');
    expect(await write(connector, [release])).toMatchObject([{ state: 'cancelled' }]);
    expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
  },
);

test('releasing an expired hold does not free a slot that another appointment has taken', async () => {
  const server = await startFake({ data: { days: 14 } });
  const connector = await openConnector(settingsFor(server.url));
  const [slot] = await freeSlots(connector, 1);
  const [held] = await write(connector, [creation(slot, new Date(Date.now() + 600_000))]);
  const reference = `Appointment/${held?.id}`;
  const appointment = server.store.get(reference) as unknown as FhirAppointment;
  const [slotReference = ''] = slotsOf(appointment);
  server.store.save(withHold(appointment, new Date(Date.now() - 60_000)));
  const taken = server.store.get(slotReference) as unknown as FhirSlot;
  server.store.save(claimedSlot(taken, 'busy', { owner: 'Appointment/another', until: null }));

  await write(connector, [{ kind: 'release', appointmentId: held?.id ?? '' }]);
  expect(server.store.get(slotReference).status).toBe('busy');
});

test('the time of an expired hold is booked although another call is just releasing it', async () => {
  const server = await startFake({ transactions: 'none', data: { days: 14 } });
  const connector = await openConnector(settingsFor(server.url));
  const [slot] = await freeSlots(connector, 1);
  const [held] = await write(connector, [creation(slot, new Date(Date.now() + 600_000))]);
  const reference = `Appointment/${held?.id}`;
  const { slot: slotReference } = expireHold(server, held?.id ?? '');
  const claim = { owner: reference, until: new Date(Date.now() + 120_000) };
  const claimed = claimedSlot(server.store.get(slotReference) as unknown as FhirSlot, 'busy-tentative', claim);
  server.store.save(claimed);
  // When the owner is read, the slot has been read already.
  server.misbehave = ({ method, path }) => {
    if (method === 'GET' && path.startsWith(`/${reference}`)) {
      server.store.save({ ...(server.store.get(reference) as unknown as FhirAppointment), status: 'cancelled' });
      server.store.save(freedSlot(claimed));
    }
    return undefined;
  };
  expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked', start: slot.start }]);
});

test('the time of an expired hold stays taken while its claim has not ended', async () => {
  const server = await startFake({ transactions: 'none', data: { days: 14 } });
  const connector = await openConnector(settingsFor(server.url));
  const [slot] = await freeSlots(connector, 1);
  const [held] = await write(connector, [creation(slot, new Date(Date.now() + 600_000))]);
  const { slot: slotReference } = expireHold(server, held?.id ?? '');
  const claim = { owner: `Appointment/${held?.id}`, until: new Date(Date.now() + 120_000) };
  server.store.save(claimedSlot(server.store.get(slotReference) as unknown as FhirSlot, 'busy-tentative', claim));
  await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
});
