import type { AppointmentChange } from '@crossward/connector-kit';
import { expect, test } from 'vitest';
import { patients } from '../fake/data-set.ts';
import { careUnit, idOf, openConnector } from './subject.ts';
import { withFake } from './with-fake.ts';

const core = 'urn:riv:crm:scheduling:1';

function answer(operation: string, ...slots: Readonly<Record<string, string>>[]): { body: string } {
  const details = slots.map(
    (texts) =>
      `<timeslotDetail>${Object.entries(texts)
        .map(([name, text]) => `<c:${name} xmlns:c="${core}">${text}</c:${name}>`)
        .join('')}</timeslotDetail>`,
  );
  return {
    body: `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><${operation}Response xmlns="urn:riv:crm:scheduling:${operation}Responder:1">${details.join('')}</${operation}Response></Body></Envelope>`,
  };
}

const slot = {
  startTimeInclusive: '20310106080000',
  endTimeExclusive: '20310106083000',
  healthcare_facility: 'SE2321000000-1NRD',
  performer: 'SE2321000000-P001',
  bookingId: 'b-1',
  subject_of_care: patients.first,
  timeTypeID: 'besok',
};

const idOfBooking = (bookingId: string) => `${patients.first}/SE2321000000-1NRD/${bookingId}`;

async function schedule(...slots: Readonly<Record<string, string>>[]) {
  const { fake, connector } = await withFake();
  fake.mishaps.set('GetSubjectOfCareSchedule', [answer('GetSubjectOfCareSchedule', ...slots)]);
  return connector.listAppointments?.({ careUnit, patientId: idOf(patients.first), limit: 10 });
}

test('bookings of another patient or unit, without an id or a time are left out', async () => {
  const { bookingId: _, ...withoutId } = slot;
  const { startTimeInclusive: __, ...withoutStart } = slot;
  const { subject_of_care: ___, ...withoutPatient } = slot;
  const found = await schedule(
    { ...slot, subject_of_care: patients.second },
    { ...slot, healthcare_facility: 'SE2321000000-2SDR' },
    withoutId,
    withoutStart,
    { ...withoutPatient, bookingId: 'b/2' },
  );
  expect(found?.map(({ id }) => id)).toEqual([`${patients.first}/SE2321000000-1NRD/b/2`]);
});

test.each([
  ['20310231080000', '20310231083000'],
  ['20310100080000', '20310100083000'],
  ['2031010608', '2031010609'],
  ['2031-01-06T08:00:00', '2031-01-06T08:30:00'],
])(
  'a time that the calendar does not have hides no other booking: %s to %s',
  async (startTimeInclusive, endTimeExclusive) => {
    const found = await schedule({ ...slot, startTimeInclusive, endTimeExclusive }, { ...slot, bookingId: 'b-2' });
    expect(found?.map(({ id }) => id)).toEqual([idOfBooking('b-2')]);
  },
);

test.each([
  ['at its start', '20310106080000'],
  ['before its start', '20310106073000'],
  ['at a time that the calendar does not have', '20310231083000'],
  ['at no time', ''],
])('a booking that ends %s is listed, and its end is not known', async (_, endTimeExclusive) => {
  const found = await schedule({ ...slot, endTimeExclusive }, { ...slot, bookingId: 'b-2' });
  expect(found).toMatchObject([
    { id: idOfBooking('b-1'), start: new Date('2031-01-06T07:00:00Z'), end: null },
    { id: idOfBooking('b-2'), end: new Date('2031-01-06T07:30:00Z') },
  ]);
});

test('a booking without an end lasts as long as its service in the settings, and can be cancelled', async () => {
  const { fake } = await withFake();
  const units = { healthcare_services: [{ id: 'besok', name: 'Besök', duration_minutes: 20 }] };
  const connector = await openConnector(fake, { units });
  const { endTimeExclusive: _, ...open } = slot;
  fake.mishaps.set('GetSubjectOfCareSchedule', [answer('GetSubjectOfCareSchedule', open)]);
  expect(await connector.findAppointments?.(careUnit, [idOfBooking('b-1')])).toMatchObject([
    { start: new Date('2031-01-06T07:00:00Z'), end: new Date('2031-01-06T07:20:00Z') },
  ]);
  const details = answer('GetBookingDetails', { ...open, cancel_booking_allowed: '1', rebooking_allowed: '1' });
  fake.mishaps.set('GetBookingDetails', [details, details]);
  const { calendar } = fake;
  const [first] = calendar.slots;
  if (!first) throw new Error('No slot');
  calendar.bookings.set('b-1', { ...calendar.book(first, patients.first, undefined, undefined), id: 'b-1' });
  const change = (what: object) =>
    connector.changeAppointments?.({
      operationId: 'o',
      careUnit,
      isFirst: true,
      changes: [{ appointmentId: idOfBooking('b-1'), ...what } as AppointmentChange],
    });
  await expect(change({ kind: 'update', comment: 'x' })).rejects.toMatchObject({ kind: 'change_not_allowed' });
  expect(await change({ kind: 'cancel' })).toMatchObject([{ state: 'cancelled' }]);
});

test('a booking that is there and cannot be read is not gone', async () => {
  const { fake, connector, change } = await withFake();
  const wrong = answer(
    'GetSubjectOfCareSchedule',
    { ...slot, startTimeInclusive: '20310231080000' },
    { ...slot, bookingId: 'b-2' },
  );
  const id = idOfBooking('b-1');
  const find = (...ids: string[]) => {
    fake.mishaps.set('GetSubjectOfCareSchedule', [wrong]);
    return connector.findAppointments?.(careUnit, ids);
  };
  await expect(find(id)).rejects.toMatchObject({ kind: 'rejected' });
  expect(await find(idOfBooking('b-2'), idOfBooking('b-3'))).toMatchObject([{ id: idOfBooking('b-2') }]);
  fake.mishaps.set('GetSubjectOfCareSchedule', [wrong]);
  fake.mishaps.set('GetBookingDetails', [{ fault: 'Databasen svarar inte' }]);
  await expect(change({ kind: 'cancel', appointmentId: id })).rejects.toMatchObject({ kind: 'rejected' });
  fake.mishaps.set('GetBookingDetails', [answer('GetBookingDetails', { ...slot, startTimeInclusive: '' })]);
  await expect(change({ kind: 'cancel', appointmentId: id })).rejects.toMatchObject({ kind: 'rejected' });
});

test('a booking that ends at 02:00 on the night of the spring change ends when the clocks go on', async () => {
  const found = await schedule(
    { ...slot, startTimeInclusive: '20310330013000', endTimeExclusive: '20310330020000' },
    { ...slot, bookingId: 'b-2' },
  );
  expect(found).toMatchObject([
    { id: idOfBooking('b-2') },
    { start: new Date('2031-03-30T00:30:00Z'), end: new Date('2031-03-30T01:00:00Z') },
  ]);
});

test('a booking without a performer or a time type is shown with the name that it has', async () => {
  const { performer: _, timeTypeID: __, ...bare } = slot;
  const found = await schedule({ ...bare, resourceName: 'Rum 1' });
  expect(found).toMatchObject([{ resourceId: null, resourceName: 'Rum 1', healthcareServiceId: null }]);
});

test('a booking in the repeated hour is listed, although no free time there is', async () => {
  const found = await schedule({ ...slot, startTimeInclusive: '20311026023000', endTimeExclusive: '20311026030000' });
  expect(found).toMatchObject([{ start: new Date('2031-10-26T00:30:00Z'), end: new Date('2031-10-26T02:00:00Z') }]);
});

test.each([
  ['another patient', { subject_of_care: patients.second }],
  ['another booking', { bookingId: 'b-2' }],
  ['another unit', { healthcare_facility: 'SE2321000000-2SDR' }],
])('details of %s change nothing', async (_, other) => {
  const { fake, connector, change } = await withFake();
  fake.mishaps.set('GetBookingDetails', [
    answer('GetBookingDetails', { ...slot, cancel_booking_allowed: 'true', ...other }),
  ]);
  const appointmentId = `${patients.first}/SE2321000000-1NRD/b-1`;
  await expect(change({ kind: 'cancel', appointmentId })).rejects.toMatchObject({ kind: 'rejected' });
  expect(fake.log.some(({ operation }) => operation === 'CancelBooking')).toBe(false);
  expect(await connector.findAppointments?.(careUnit, [appointmentId, 'b-1', `${appointmentId}/x`])).toEqual([]);
});

test('free times that begin in the hour that spring skips are left out, and hide no others', async () => {
  const { fake, connector } = await withFake();
  const at = (startTimeInclusive: string, endTimeExclusive: string) => ({
    ...slot,
    startTimeInclusive,
    endTimeExclusive,
  });
  fake.mishaps.set('GetAvailableTimeslots', [
    answer(
      'GetAvailableTimeslots',
      at('20310330013000', '20310330020000'),
      at('20310330023000', '20310330030000'),
      at('20310330080000', '20310330083000'),
    ),
  ]);
  const [start, end] = [new Date('2031-03-29T00:00:00Z'), new Date('2031-04-01T00:00:00Z')];
  expect(await connector.listTimeSlots?.({ careUnit, start, end, limit: 10 })).toMatchObject([
    { start: new Date('2031-03-30T00:30:00Z'), end: new Date('2031-03-30T01:00:00Z') },
    { start: new Date('2031-03-30T06:00:00Z'), end: new Date('2031-03-30T06:30:00Z') },
  ]);
});

test('an open invitation is no free time', async () => {
  const { fake, freeSlots } = await withFake();
  const invitation = '<x:isInvitation xmlns:x="urn:riv:crm:scheduling:1.1">1</x:isInvitation>';
  const { body } = answer('GetAvailableTimeslots', slot);
  fake.mishaps.set('GetAvailableTimeslots', [
    { body: body.replace('</timeslotDetail>', `${invitation}</timeslotDetail>`) },
  ]);
  expect(await freeSlots()).toEqual([]);
});

test('free times of resources and services that nobody lists are left out', async () => {
  const { fake, connector } = await withFake();
  const query = { careUnit, start: new Date(), end: new Date('2031-02-01T00:00:00Z'), limit: 10 };
  const { timeTypeID: _, ...untyped } = slot;
  fake.mishaps.set('GetAvailableTimeslots', [
    answer('GetAvailableTimeslots', { ...slot, performer: 'SE2321000000-P999' }, untyped, slot),
  ]);
  expect(await connector.listTimeSlots?.(query)).toMatchObject([
    { resourceId: slot.performer, healthcareServiceId: 'besok' },
  ]);
  // Settings can list them.
  const units = {
    resources: [{ id: slot.performer, name: 'Astrid' }],
    healthcare_services: [{ id: 'untyped', name: 'Tid' }],
  };
  const listing = await openConnector(fake, { units });
  fake.mishaps.set('GetAvailableTimeslots', [answer('GetAvailableTimeslots', untyped, slot)]);
  expect(await listing.listTimeSlots?.(query)).toMatchObject([
    { resourceId: slot.performer, healthcareServiceId: 'untyped' },
  ]);
});
