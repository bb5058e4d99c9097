import { expect, test } from 'vitest';
import type { FhirSettings } from '../../src/settings.ts';
import { creation, freeSlots, write } from '../bookings.ts';
import { startFake } from '../fake.ts';
import { openConnector, probeServer, settingsFor } from '../subject.ts';

/** As Oracle Health: one Slot for each Appointment, which the server updates itself, and changes by JSON Patch only. */
async function openOracle(minimalCreate = true) {
  const server = await startFake({
    transactions: 'none',
    plainWrites: false,
    checksAppointments: true,
    oneSlot: true,
    patchOnly: true,
    data: { days: 14 },
  });
  const settings = settingsFor(server.url, { booking: { mode: 'create', minimal_create: minimalCreate } });
  return { server, settings, connector: await openConnector(settings) };
}

test('a new Appointment contains only its Slot, its patient and the texts, and no Slot is written', async () => {
  const { server, connector } = await openOracle();
  const [slot] = await freeSlots(connector, 1);
  let sent: Record<string, unknown> = {};
  server.misbehave = ({ method, path, body }) => {
    if (method === 'POST' && path === '/Appointment') sent = JSON.parse(body);
    return undefined;
  };
  expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked', start: slot.start }]);
  expect(Object.keys(sent).sort()).toEqual(['comment', 'participant', 'resourceType', 'slot', 'status']);
  expect(sent.participant).toMatchObject([{ actor: { reference: 'Patient/p-1' } }]);
  expect(server.seen.filter(({ method, path }) => method !== 'GET' && path.startsWith('/Slot'))).toEqual([]);
});

test('an appointment can be created and cancelled, and not moved', async () => {
  const { connector } = await openOracle();
  expect(connector.capabilities.changes).toEqual(['create', 'cancel']);
  const [slot] = await freeSlots(connector, 1);
  const [made] = await write(connector, [creation(slot)]);
  const cancelled = await write(connector, [{ kind: 'cancel', appointmentId: made?.id ?? '' }]);
  expect(cancelled).toMatchObject([{ state: 'cancelled' }]);
  expect(await freeSlots(connector, 1)).toEqual([slot]);
});

test('a move books anew and cancels, if the settings say so', async () => {
  const { settings } = await openOracle();
  const rebooking = { ...settings, booking: { ...settings.booking, rebooks: true } };
  const { capabilities } = await openConnector(rebooking);
  expect(capabilities).toMatchObject({ changes: ['create', 'cancel'], rebooks: true });
  const moves = async (checked: FhirSettings) =>
    (await probeServer(checked)).findings.find(({ name }) => name === 'moves');
  expect(await moves(settings)).toMatchObject({ status: 'note', detail: expect.stringContaining('booking.rebooks') });
  expect(await moves(rebooking)).toBeUndefined();
});

test('a time of two Slots is not available', async () => {
  const { connector } = await openOracle();
  const [first, second] = await freeSlots(connector, 2);
  const both = creation({ ...first, end: second.end });
  await expect(write(connector, [both])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
});
