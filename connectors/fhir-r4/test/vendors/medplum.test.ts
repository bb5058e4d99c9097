import { describe, expect, test } from 'vitest';
import { healthcareServices } from '../../fake/data-set.ts';
import type { FhirAppointment, FhirSlot } from '../../src/fhir.ts';
import { creation, freeSlots, write } from '../bookings.ts';
import { north, openConnector, probeServer } from '../subject.ts';
import { describeBooking, describeHold, openVendor, type Vendor } from './vendor.ts';

const minute = 60_000;

const medplum: Vendor = {
  operations: 'medplum',
  server: { transactions: 'none', data: { days: 14, oneActorEach: true } },
  settings: {
    healthcare_services: healthcareServices.map((it) => ({ ...it, reference: `HealthcareService/${it.id}` })),
  },
};

describeBooking(medplum, {
  changes: ['create', 'update', 'cancel'],
  changesWithHold: ['create', 'update', 'cancel', 'confirm', 'extend', 'release'],
  probed: 'warning',
});
describeHold(medplum);

describe('a move by `$reschedule`', () => {
  test.each([
    ['$reschedule', 'cut_before'],
    ['$reschedule', 'cut_during'],
    ['$reschedule', 'cut_after'],
    ['PUT', 'cut_before'],
    ['PUT', 'cut_after'],
  ] as const)('whose %s has the fault %s is done once, with its comment', async (step, fault) => {
    const { server, connector } = await openVendor(medplum);
    const [from, to, next] = await freeSlots(connector, 3);
    const [made] = await write(connector, [creation(from)]);
    let faults = 0;
    server.misbehave = ({ method, path }) =>
      (path.endsWith(step) || method === step) && ++faults === 1 ? fault : undefined;
    const appointmentId = made?.id ?? '';
    const time = { start: to?.start ?? new Date(), end: to?.end ?? new Date() };
    const [moved] = await write(connector, [{ kind: 'update', appointmentId, time, comment: 'moved' }]);
    expect(faults).toBeGreaterThan(0);
    expect(moved).toEqual({ ...made, ...time, comment: 'moved' });
    expect(await connector.findAppointments?.(north, [appointmentId])).toEqual([moved]);
    expect(await freeSlots(connector, 2)).toEqual([from, next]);
  });
});

test('no other booking mode is recommended, because the EHR computes the free times', async () => {
  const { settings } = await openVendor(medplum, {}, { transactions: 'atomic' });
  const { recommendedSettings } = await probeServer(settings);
  expect(recommendedSettings).toEqual({});
});

test('a move by `$reschedule` is unknown if its comment cannot be written', async () => {
  const { server, connector } = await openVendor(medplum);
  const [from, to] = await freeSlots(connector, 2);
  const [made] = await write(connector, [creation(from)]);
  server.misbehave = ({ method }) => (method === 'PUT' ? { status: 429 } : undefined);
  const time = { start: to?.start ?? new Date(), end: to?.end ?? new Date() };
  const moved = write(connector, [{ kind: 'update', appointmentId: made?.id ?? '', time, comment: 'moved' }]);
  await expect(moved).rejects.toMatchObject({ kind: 'outcome_unknown' });
});

describe('free times of Medplum', () => {
  test('are all found in a range of several months', async () => {
    const { server, connector } = await openVendor(medplum, {}, { data: { days: 70, oneActorEach: true } });
    const start = new Date();
    const end = new Date(start.getTime() + 65 * 24 * 60 * minute);
    const query = { careUnit: north, start, end, resourceIds: ['r-1'], limit: 10_000 };
    const found = await connector.listTimeSlots?.({ ...query, healthcareServiceIds: ['consultation'] });
    const free = server.store.all('Slot').filter(({ id, start: at, end: until }) => {
      const [from, to] = [Date.parse(String(at)), Date.parse(String(until))];
      return String(id).startsWith('slot-r-1-') && from >= start.getTime() && to <= end.getTime();
    });
    expect(found).toHaveLength(free.length);
    expect((await connector.listTimeSlots?.(query))?.length).toBe(2 * free.length);
  });

  test('that overlap are all found, although a response has at most a thousand', async () => {
    const { server, connector } = await openVendor(medplum);
    for (const { id } of server.store.all('Slot')) server.store.remove(`Slot/${id}`);
    const start = new Date();
    for (let index = 0; index < 1_100; index++) {
      const begin = start.getTime() + (index + 1) * minute;
      server.store.save({
        resourceType: 'Slot',
        schedule: { reference: 'Schedule/schedule-r-1' },
        status: 'free',
        start: new Date(begin).toISOString(),
        end: new Date(begin + 60 * minute).toISOString(),
      } as FhirSlot);
    }
    const end = new Date(start.getTime() + 14 * 24 * 60 * minute);
    const query = { careUnit: north, start, end, resourceIds: ['r-1'], healthcareServiceIds: ['consultation'] };
    expect(await connector.listTimeSlots?.({ ...query, limit: 10_000 })).toHaveLength(1_100);
  });

  test('are empty for a service without `reference` in the settings', async () => {
    const { settings } = await openVendor(medplum);
    const connector = await openConnector({ ...settings, healthcare_services: healthcareServices });
    const range = { start: new Date(), end: new Date(Date.now() + 14 * 24 * 60 * minute) };
    expect(await connector.listTimeSlots?.({ careUnit: north, ...range, limit: 10 })).toEqual([]);
  });
});

test('a move by `$reschedule` takes its new time even if the appointment names no slots', async () => {
  const { server, connector } = await openVendor(medplum);
  const [from, , to] = await freeSlots(connector, 3);
  const [made] = await write(connector, [creation(from)]);
  const reference = `Appointment/${made?.id}`;
  const { slot: _, ...withoutSlots } = server.store.get(reference) as unknown as FhirAppointment;
  server.store.save(withoutSlots);
  const time = { start: to?.start as Date, end: to?.end as Date };
  expect(await write(connector, [{ kind: 'update', appointmentId: made?.id ?? '', time }])).toMatchObject([time]);
  await expect(write(connector, [creation(to)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
});

test('a time is booked although another gateway has cancelled its appointment and not yet removed its Slots', async () => {
  const { server, connector } = await openVendor(medplum);
  const [slot] = await freeSlots(connector, 1);
  const [made] = await write(connector, [creation(slot)]);
  const stored = server.store.get(`Appointment/${made?.id}`) as unknown as FhirAppointment;
  server.store.save({ ...stored, status: 'cancelled' });
  expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked', start: slot.start }]);
  await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
});
