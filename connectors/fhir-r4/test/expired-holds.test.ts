import { expect, test } from 'vitest';
import type { FhirAppointment, FhirSlot } from '../src/fhir.ts';
import { slotsOf, withHold } from '../src/mappers/appointment.ts';
import { claimedSlot } from '../src/mappers/slot.ts';
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
