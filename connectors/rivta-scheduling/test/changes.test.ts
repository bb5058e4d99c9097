import { ConnectorError } from '@crossward/connector-kit';
import { expect, test } from 'vitest';
import type { Booking } from '../fake/calendar.ts';
import { patients } from '../fake/data-set.ts';
import type { FakeProducer } from '../fake/server.ts';
import { careUnit, idOf } from './subject.ts';
import { creationOf, details, withFake } from './with-fake.ts';

async function errorOf(promise: Promise<unknown>): Promise<ConnectorError> {
  const [outcome] = await Promise.allSettled([promise]);
  if (outcome.status === 'rejected' && outcome.reason instanceof ConnectorError) return outcome.reason;
  throw new Error('Expected a ConnectorError');
}

function lastRequest({ log }: FakeProducer, operation: string): string {
  const request = log.findLast((it) => it.operation === operation)?.request ?? '';
  return request.replaceAll(/ xmlns="[^"]*"/g, '');
}

function onlyBooking({ calendar }: FakeProducer): Booking {
  const [booking] = calendar.bookings.values();
  if (!booking) throw new Error('No booking');
  return booking;
}

test('sends the slot as it was received, without flags, and the patient with both headers', async () => {
  const { fake, freeSlots, change } = await withFake();
  const [slot] = await freeSlots();
  if (!slot) throw new Error('No free slot');
  await change(creationOf(slot, 'Ont i knät & <huvudet>'));
  const request = lastRequest(fake, 'MakeBooking');
  expect(request).toMatch(/<LogicalAddress>SE2321000000-1NRD</);
  expect(request).toMatch(/actorId>SE2321000000-AGNT<.*actorType>subject_of_care_agent</);
  expect(request).toMatch(/<reason>Ont i knät &amp; &lt;huvudet&gt;</);
  expect(request).toMatch(/resourceID>schema-SE2321000000-P001<.*timeTypeName>Besök<.*timeTypeID>besok</);
  for (const value of Object.values(details)) expect(request).toContain(`>${value}<`);
  expect(request).not.toMatch(/_allowed|isInvitation|bookingId/);
});

test('the patient acts if the settings say so', async () => {
  const { fake, book } = await withFake({ settings: { actor: { type: 'patient' } } });
  await book();
  expect(lastRequest(fake, 'MakeBooking')).toMatch(
    new RegExp(`actorId>${patients.first}<.*actorType>subject_of_care<`),
  );
  expect(lastRequest(fake, 'GetAllTimeTypes')).toContain(`actorId>${patients.nobody}<`);
});

test('a comment is shown as the producer gets it, without what XML cannot carry', async () => {
  const { fake, connector, freeSlots, change } = await withFake();
  const [slot] = await freeSlots();
  if (!slot) throw new Error('No free slot');
  const [made] = await change(creationOf(slot, ' Ont\u0007 i\r\nknät\u0000 '));
  const read = async () => (await connector.findAppointments?.(careUnit, [made?.id ?? '']))?.[0]?.comment;
  expect([made?.comment, await read()]).toEqual(['Ont i\nknät', 'Ont i\nknät']);
  const [updated] = await change({ kind: 'update', appointmentId: made?.id ?? '', comment: 'Frisk\u001b' });
  expect([updated?.comment, await read()]).toEqual(['Frisk', 'Frisk']);
  expect(lastRequest(fake, 'UpdateBooking')).toContain('<reason>Frisk</reason>');
});

test('a booking needs both names', async () => {
  const { fake, freeSlots, change } = await withFake();
  const [slot] = await freeSlots();
  if (!slot) throw new Error('No free slot');
  const nameless = { ...creationOf(slot), patientDetails: { ...details, familyName: null } };
  expect((await errorOf(change(nameless))).kind).toBe('unsupported');
  expect(fake.calendar.bookings.size).toBe(0);
});

test('the text of INFO is a notice, in the result only', async () => {
  const { fake, connector, freeSlots, change } = await withFake();
  fake.behaviour.info = 'Kom fastande.';
  const [slot] = await freeSlots();
  if (!slot) throw new Error('No free slot');
  const [made] = await change(creationOf(slot));
  expect(made?.notice).toBe('Kom fastande.');
  const [found] = (await connector.findAppointments?.(careUnit, [made?.id ?? ''])) ?? [];
  expect(found).toMatchObject({ id: made?.id, state: 'booked' });
  expect(found).not.toHaveProperty('notice');
});

test('ERROR is a lost time if the time is no longer free, and keeps its text for the person', async () => {
  const { fake, freeSlots, change } = await withFake();
  const [slot] = await freeSlots();
  if (!slot) throw new Error('No free slot');
  // Somebody else books between the search and the booking.
  fake.before = async (operation) => {
    const wanted = fake.calendar.slots.find((it) => it.performer?.id === slot.resourceId);
    if (operation === 'MakeBooking' && wanted)
      fake.calendar.book(wanted, patients.second, wanted.timeTypes[0], undefined);
  };
  const error = await errorOf(change(creationOf(slot)));
  expect([error.kind, error.publicDetail]).toEqual(['time_slot_unavailable', 'Tiden är tyvärr redan bokad.']);
  expect(error.message).not.toContain('Tiden');
});

test('ERROR about a time that is still free is another refusal', async () => {
  const { fake, freeSlots, change } = await withFake();
  fake.behaviour.refusal = 'Du har redan en tid här.';
  const [slot] = await freeSlots();
  if (!slot) throw new Error('No free slot');
  const error = await errorOf(change(creationOf(slot)));
  expect([error.kind, error.publicDetail]).toEqual(['rejected', 'Du har redan en tid här.']);
});

test('ERROR stays a refusal if the slots cannot be read again', async () => {
  const { fake, freeSlots, change } = await withFake();
  fake.behaviour.refusal = 'Du har redan en tid här.';
  const [slot] = await freeSlots();
  if (!slot) throw new Error('No free slot');
  fake.before = async (operation) => {
    if (operation === 'MakeBooking') fake.mishaps.set('GetAvailableTimeslots', ['request lost']);
  };
  expect((await errorOf(change(creationOf(slot)))).kind).toBe('rejected');
});

test('slots that a producer shows although they are taken cannot be booked twice', async () => {
  const { fake, freeSlots, book, change } = await withFake();
  const [slot] = await freeSlots();
  if (!slot) throw new Error('No free slot');
  fake.behaviour.staleSlots = new Set(fake.calendar.slots);
  await book(slot);
  // The producer alone knows why: its slots still show the time.
  const error = await errorOf(change(creationOf(slot)));
  expect([error.kind, error.publicDetail]).toEqual(['rejected', 'Tiden är tyvärr redan bokad.']);
  expect(fake.calendar.bookings.size).toBe(1);
});

test.each([
  ['move', { allowsRebook: false }, 'UpdateBooking', 'This booking cannot be changed online.'],
  ['cancel', { allowsCancel: false }, 'CancelBooking', 'This booking cannot be cancelled online.'],
] as const)('does not %s a booking whose flag forbids it', async (what, flags, operation, detail) => {
  const { fake, freeSlots, change, book } = await withFake();
  const { id } = await book();
  Object.assign(onlyBooking(fake), flags);
  const [to] = (await freeSlots()).slice(3);
  if (!to) throw new Error('No free slot');
  const error = await errorOf(
    change(what === 'move' ? { kind: 'update', appointmentId: id, time: to } : { kind: 'cancel', appointmentId: id }),
  );
  expect([error.kind, error.publicDetail]).toEqual(['change_not_allowed', detail]);
  expect(lastRequest(fake, operation)).toBe('');
});

test('a move keeps the id, searches with it, and keeps the words', async () => {
  const { fake, freeSlots, change } = await withFake();
  const [from, to] = (await freeSlots()).filter(({ resourceId }) => resourceId === 'SE2321000000-P001');
  if (!from || !to) throw new Error('No free slots');
  const [made] = await change(creationOf(from, 'Ont i knät'));
  const [moved] = await change({ kind: 'update', appointmentId: made?.id ?? '', time: to });
  expect(moved).toMatchObject({ id: made?.id, start: to.start, comment: 'Ont i knät' });
  const { id } = onlyBooking(fake);
  expect(lastRequest(fake, 'GetAvailableTimeslots')).toContain(`bookingId>${id}<`);
  expect(lastRequest(fake, 'UpdateBooking')).toContain(`bookingId>${id}<`);
});

test.each([
  [true, ['Frisk igen']],
  [false, []],
])('a comment goes with a cancellation only if messages are allowed: %s', async (allowed, messages) => {
  const { fake, change, book } = await withFake();
  const { id } = await book();
  onlyBooking(fake).allowsMessage = allowed;
  const [cancelled] = await change({ kind: 'cancel', appointmentId: id, comment: 'Frisk igen' });
  expect([cancelled?.state, cancelled?.comment]).toEqual(['cancelled', allowed ? 'Frisk igen' : null]);
  expect(fake.calendar.messages).toEqual(messages);
});

test('a cancellation that somebody else was faster with is done', async () => {
  const { fake, change, book } = await withFake();
  const { id } = await book();
  fake.before = async (operation) => {
    if (operation === 'CancelBooking') fake.calendar.bookings.clear();
  };
  expect(await change({ kind: 'cancel', appointmentId: id })).toMatchObject([{ id, state: 'cancelled' }]);
});

test('a fault of GetBookingDetails is no proof that a booking is gone', async () => {
  const { fake, change, book } = await withFake();
  const { id } = await book();
  fake.mishaps.set('GetBookingDetails', [{ fault: 'Databasen svarar inte' }]);
  expect((await errorOf(change({ kind: 'cancel', appointmentId: id }))).kind).toBe('rejected');
  expect(fake.calendar.bookings.size).toBe(1);
  fake.calendar.bookings.clear();
  expect((await errorOf(change({ kind: 'cancel', appointmentId: id }))).kind).toBe('appointment_cancelled');
});

test('a booking that has started is neither moved nor cancelled', async () => {
  let now = new Date();
  const { freeSlots, change, book, connector } = await withFake({ now: () => now });
  const { id, start } = await book();
  const [, to] = (await freeSlots()).slice(5);
  if (!to) throw new Error('No free slot');
  now = start;
  expect((await errorOf(change({ kind: 'cancel', appointmentId: id }))).kind).toBe('appointment_started');
  expect((await errorOf(change({ kind: 'update', appointmentId: id, time: to }))).kind).toBe('appointment_started');
  expect(await connector.findAppointments?.(careUnit, [id])).toMatchObject([{ id, hasStarted: true }]);
});

test('bookings of a patient are listed for the patient only', async () => {
  const { connector, book } = await withFake();
  const { id } = await book();
  const list = connector.listAppointments;
  expect(await list?.({ careUnit, patientId: idOf(patients.first), limit: 10 })).toMatchObject([{ id }]);
  expect(await list?.({ careUnit, patientId: idOf(patients.second), limit: 10 })).toEqual([]);
  expect(await list?.({ careUnit, patientId: 'emr_id:1', limit: 10 })).toEqual([]);
  expect((await errorOf(list?.({ careUnit, limit: 10 }) ?? Promise.resolve())).kind).toBe('unsupported');
});
