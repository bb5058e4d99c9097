import { type PlainHttp, plainHttp } from '@crossward/connector-kit/conformance';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { healthcareServices } from '../fake/data-set.ts';
import type { FakeOptions, FakeServer } from '../fake/server.ts';
import type { FhirAppointment, FhirSlot } from '../src/fhir.ts';
import { withHold as withHoldUntil } from '../src/mappers/appointment.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

type Booking = NonNullable<FhirSettings['booking']>;

afterEach(() => {
  vi.useRealTimers();
});

const minute = 60_000;
const scheduler: FakeOptions = { transactions: 'none', plainWrites: false, checksAppointments: true };
const servicesWithReference = healthcareServices.map((it) => ({ ...it, reference: `HealthcareService/${it.id}` }));

async function open(operations: NonNullable<Booking['operations']>, booking: Booking = {}, options: FakeOptions = {}) {
  const isMedplum = operations === 'medplum';
  const kind = isMedplum ? { transactions: 'none' as const } : scheduler;
  const server = await startFake({ ...kind, operations, data: { days: 14, oneActorEach: isMedplum }, ...options });
  const settings = settingsFor(server.url, {
    booking: { mode: 'operations', operations, ...booking },
    ...(isMedplum ? { healthcare_services: servicesWithReference } : {}),
  });
  return { server, settings, connector: await openConnector(settings) };
}

const withHold = { hold: true };
const inTenMinutes = () => new Date(Date.now() + 10 * minute);

describe('the claimed changes', () => {
  test.each([
    ['ihe', {}, ['create', 'cancel']],
    ['ihe', withHold, ['create', 'cancel', 'confirm', 'extend', 'release']],
    ['ihe', { checked_update: true }, ['create', 'update', 'cancel']],
    ['argonaut', {}, ['create', 'cancel']],
    ['argonaut', withHold, ['create', 'cancel', 'confirm', 'extend', 'release']],
    ['epic', withHold, ['create', 'cancel']],
    ['isik', withHold, ['create', 'cancel']],
    ['medplum', {}, ['create', 'update', 'cancel']],
    ['medplum', withHold, ['create', 'update', 'cancel', 'confirm', 'extend', 'release']],
  ] as const)('of %s with %j are those that work', async (form, booking, changes) => {
    const { connector } = await open(form, booking);
    expect(connector.capabilities.changes).toEqual(changes);
  });

  test('of a server without update and patch are those of its operations', async () => {
    const { connector } = await open('argonaut', withHold, { operationsOnly: true });
    expect(connector.capabilities.changes).toEqual(['create']);
    const { connector: other } = await open('ihe', withHold, { operationsOnly: true });
    expect(other.capabilities.changes).toEqual(['create', 'cancel']);
  });
});

describe.each(['ihe', 'argonaut', 'medplum'] as const)('a hold by %s', (form) => {
  test('keeps its patient, resource and comment, and is confirmed under the same id', async () => {
    const { connector } = await open(form, withHold);
    const [slot] = await freeSlots(connector, 1);
    const [held] = await write(connector, [creation(slot, inTenMinutes())]);
    expect(held).toMatchObject({ state: 'held', patientId: 'p-1', resourceId: 'r-1', comment: 'as written' });
    expect(await connector.findAppointments?.(north, [held?.id ?? ''])).toEqual([held]);
    const [booked] = await write(connector, [{ kind: 'confirm', appointmentId: held?.id ?? '' }]);
    expect(booked).toEqual({ ...held, state: 'booked', heldUntil: null });
  });

  test('that has expired does not block its time, and the next booking cancels it', async () => {
    const { server, connector } = await open(form, withHold);
    const [slot, next] = await freeSlots(connector, 2);
    const [held] = await write(connector, [creation(slot, inTenMinutes())]);
    const appointment = server.store.get(`Appointment/${held?.id}`) as unknown as FhirAppointment;
    server.store.save(withHoldUntil(appointment, new Date(Date.now() - minute)));
    expect(await connector.findAppointments?.(north, [held?.id ?? ''])).toMatchObject([{ state: 'cancelled' }]);
    // The server still holds it, because reading changes nothing.
    expect(server.store.get(`Appointment/${held?.id}`).status).toBe('pending');
    expect(await freeSlots(connector, 2)).toEqual([slot, next]);
    expect(server.store.get(`Appointment/${held?.id}`).status).toBe('pending');
    expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
    expect(server.store.get(`Appointment/${held?.id}`).status).toBe('cancelled');
    expect((await freeSlots(connector, 1))[0]).toEqual(next);
  });
});

describe('a hold that the server ends too early', () => {
  const brief = { holdMilliseconds: 2 * minute };

  test('is rejected and released if the server says when it ends', async () => {
    const { server, connector } = await open('argonaut', withHold, brief);
    const [slot] = await freeSlots(connector, 1);
    const held = write(connector, [creation(slot, inTenMinutes())]);
    await expect(held).rejects.toMatchObject({ kind: 'rejected' });
    expect(server.store.all('Appointment').filter(({ status }) => status === 'pending')).toEqual([]);
    expect(await freeSlots(connector, 1)).toEqual([slot]);
    const inTime = creation(slot, new Date(Date.now() + minute));
    expect(await write(connector, [inTime])).toMatchObject([{ state: 'held' }]);
  });

  test.each(['Thu, 01 Jan 1970 00:00:00 GMT', '0', '-1'])(
    'is not detected from an `Expires` of %s',
    async (expires) => {
      const { settings } = await open('ihe', withHold);
      const { send, stream, cut } = plainHttp();
      const http: PlainHttp = {
        cut,
        stream,
        async send(request) {
          const response = await send(request);
          return { ...response, headers: { ...response.headers, expires } };
        },
      };
      const connector = await openConnector(settings, http);
      const [slot] = await freeSlots(connector, 1);
      expect(await write(connector, [creation(slot, inTenMinutes())])).toMatchObject([{ state: 'held' }]);
    },
  );

  test('is cancelled, and cannot be confirmed or extended', async () => {
    const { connector } = await open('ihe', withHold, brief);
    const [slot] = await freeSlots(connector, 1);
    const [held] = await write(connector, [creation(slot, inTenMinutes())]);
    const appointmentId = held?.id ?? '';
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * minute });
    expect(await connector.findAppointments?.(north, [appointmentId])).toMatchObject([{ state: 'cancelled' }]);
    expect(await freeSlots(connector, 1)).toEqual([slot]);
    const confirmed = write(connector, [{ kind: 'confirm', appointmentId }]);
    await expect(confirmed).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    const extended = write(connector, [{ kind: 'extend', appointmentId, holdUntil: inTenMinutes() }]);
    await expect(extended).rejects.toMatchObject({ kind: 'appointment_not_held' });
    expect(await write(connector, [{ kind: 'release', appointmentId }])).toMatchObject([{ state: 'cancelled' }]);
  });
});

describe('a hold that is interrupted', () => {
  test('is released if the patient cannot be written on it', async () => {
    const { server, connector } = await open('ihe', withHold);
    const [slot] = await freeSlots(connector, 1);
    let writes = 0;
    server.misbehave = ({ method }) => (method === 'PUT' && ++writes === 1 ? { status: 422 } : undefined);
    const held = write(connector, [creation(slot, inTenMinutes())]);
    await expect(held).rejects.toMatchObject({ kind: 'rejected' });
    expect(await freeSlots(connector, 1)).toEqual([slot]);
  });

  test('is unknown if it can be neither completed nor released', async () => {
    const { server, connector } = await open('ihe', withHold);
    const [slot] = await freeSlots(connector, 1);
    server.misbehave = ({ method }) => (method === 'PUT' ? { status: 429 } : undefined);
    const held = write(connector, [creation(slot, inTenMinutes())]);
    await expect(held).rejects.toMatchObject({ kind: 'outcome_unknown' });
  });

  test('is unknown if `$hold` gets no response', async () => {
    const { server, connector } = await open('argonaut', withHold);
    const [slot] = await freeSlots(connector, 1);
    server.misbehave = ({ path }) => (path.endsWith('$hold') ? 'cut_after' : undefined);
    const held = write(connector, [creation(slot, inTenMinutes())]);
    await expect(held).rejects.toMatchObject({ kind: 'outcome_unknown' });
  });
});

describe('a booking with `$book`', () => {
  test.each(['ihe', 'argonaut', 'epic', 'isik', 'medplum'] as const)(
    'of %s is found if it gets no response',
    async (form) => {
      const { server, connector } = await open(form);
      const [slot] = await freeSlots(connector, 1);
      server.misbehave = ({ path }) => (path.endsWith('$book') ? 'cut_after' : undefined);
      expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked', patientId: 'p-1' }]);
      expect(server.store.all('Appointment').filter(({ status }) => status === 'booked')).toHaveLength(1);
    },
  );

  test.each([
    [400, 'rejected'],
    [403, 'rejected'],
    [501, 'unsupported'],
  ] as const)(
    'that is rejected with %i while its time is free is not reported as unavailable',
    async (status, kind) => {
      for (const form of ['ihe', 'medplum'] as const) {
        const { server, connector } = await open(form);
        const [slot] = await freeSlots(connector, 1);
        server.misbehave = ({ path }) => (path.endsWith('$book') ? { status } : undefined);
        await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind });
      }
    },
  );

  test('is sent to `operations_url`', async () => {
    const { server: elsewhere } = await open('epic');
    const { server, settings } = await open('epic');
    const booking = { ...settings.booking, operations_url: elsewhere.url };
    const connector = await openConnector({ ...settings, booking });
    const [slot] = await freeSlots(connector, 1);
    expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
    const hasBooked = (it: FakeServer) => it.seen.some(({ path }) => path.endsWith('$book'));
    expect([hasBooked(elsewhere), hasBooked(server)]).toEqual([true, false]);
  });
});

describe('a move with the operations of Medplum', () => {
  test.each([
    ['$reschedule', 'cut_before'],
    ['$reschedule', 'cut_during'],
    ['$reschedule', 'cut_after'],
    ['PUT', 'cut_before'],
    ['PUT', 'cut_after'],
  ] as const)('whose %s has the fault %s is done once, with its comment', async (step, fault) => {
    const { server, connector } = await open('medplum');
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

test('a move with the operations of Medplum is unknown if its comment cannot be written', async () => {
  const { server, connector } = await open('medplum');
  const [from, to] = await freeSlots(connector, 2);
  const [made] = await write(connector, [creation(from)]);
  server.misbehave = ({ method }) => (method === 'PUT' ? { status: 429 } : undefined);
  const time = { start: to?.start ?? new Date(), end: to?.end ?? new Date() };
  const moved = write(connector, [{ kind: 'update', appointmentId: made?.id ?? '', time, comment: 'moved' }]);
  await expect(moved).rejects.toMatchObject({ kind: 'outcome_unknown' });
});

describe('free times of Medplum', () => {
  test('are all found in a range of several months', async () => {
    const { server, connector } = await open('medplum', {}, { data: { days: 70, oneActorEach: true } });
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
    const { server, connector } = await open('medplum');
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
    const { settings } = await open('medplum');
    const connector = await openConnector({ ...settings, healthcare_services: healthcareServices });
    const range = { start: new Date(), end: new Date(Date.now() + 14 * 24 * 60 * minute) };
    expect(await connector.listTimeSlots?.({ careUnit: north, ...range, limit: 10 })).toEqual([]);
  });
});

test('an expired hold at another time is not cancelled by a booking', async () => {
  const { server, connector } = await open('ihe', withHold);
  const [first, , later] = await freeSlots(connector, 3);
  const [held] = await write(connector, [creation(first, inTenMinutes())]);
  const appointment = server.store.get(`Appointment/${held?.id}`) as unknown as FhirAppointment;
  server.store.save(withHoldUntil(appointment, new Date(Date.now() - minute)));
  await write(connector, [creation(later)]);
  expect(server.store.get(`Appointment/${held?.id}`).status).toBe(appointment.status);
  expect(await write(connector, [{ kind: 'confirm', appointmentId: held?.id ?? '' }])).toMatchObject([
    { state: 'booked' },
  ]);
});

test('a move with the operations of Medplum takes its new time even if the appointment names no slots', async () => {
  const { server, connector } = await open('medplum');
  const [from, , to] = await freeSlots(connector, 3);
  const [made] = await write(connector, [creation(from)]);
  const reference = `Appointment/${made?.id}`;
  const { slot: _, ...withoutSlots } = server.store.get(reference) as unknown as FhirAppointment;
  server.store.save(withoutSlots);
  const time = { start: to?.start as Date, end: to?.end as Date };
  expect(await write(connector, [{ kind: 'update', appointmentId: made?.id ?? '', time }])).toMatchObject([time]);
  await expect(write(connector, [creation(to)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
});
