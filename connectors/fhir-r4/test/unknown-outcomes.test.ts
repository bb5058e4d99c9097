import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { healthcareServices } from '../fake/data-set.ts';
import type { FakeOptions, Fault, SeenRequest } from '../fake/server.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { openConnector, settingsFor } from './subject.ts';

async function open(options: FakeOptions, settings: Partial<FhirSettings> = {}) {
  const server = await startFake({ ...options, data: { days: 14, ...options.data } });
  return { server, connector: await openConnector(settingsFor(server.url, settings)) };
}

const modes: readonly (readonly [string, FakeOptions, Partial<FhirSettings>])[] = [
  ['in `transaction`', {}, {}],
  ['in `slot_claim`', { transactions: 'none' }, {}],
  [
    'in `create`',
    { transactions: 'none', plainWrites: false, checksAppointments: true },
    { booking: { mode: 'create', operation_lookup: true } },
  ],
  [
    'with the operations of Medplum',
    { transactions: 'none', operations: 'medplum', data: { oneActorEach: true } },
    {
      booking: { mode: 'operations', operations: 'medplum' },
      healthcare_services: healthcareServices.map((it) => ({ ...it, reference: `HealthcareService/${it.id}` })),
    },
  ],
];

/** Applies the fault to the n-th write only. */
function onWrite(place: number, fault: Fault) {
  let writes = 0;
  return ({ method, path }: SeenRequest) => {
    const isWrite = method !== 'GET' && !path.endsWith('/_search');
    return isWrite && ++writes === place ? fault : undefined;
  };
}

describe.each(modes)('a booking %s that gets no response', (_, options, settings) => {
  test.each([
    ['before a request is executed', 'cut_before'],
    ['while a request is executed', 'cut_during'],
    ['after a request is executed', 'cut_after'],
  ] as const)('is done exactly once when the connection is cut %s', async (_name, fault) => {
    for (const place of [1, 2, 3]) {
      const { server, connector } = await open(options, settings);
      const [slot] = await freeSlots(connector, 1);
      server.misbehave = onWrite(place, fault);
      const operationId = randomUUID();
      const changes = [creation(slot)];
      const first = await write(connector, changes, operationId).catch((error: unknown) => error);
      server.misbehave = () => undefined;
      await server.atRest();
      // A caller that gets `outcome_unknown` sends the operation again.
      if (first instanceof Error) expect(first).toMatchObject({ kind: 'outcome_unknown' });
      const [appointment] = await write(connector, changes, operationId);
      expect(appointment).toMatchObject({ state: 'booked', comment: 'as written' });
      const booked = server.store.all('Appointment').filter(({ status }) => status === 'booked');
      expect(booked).toHaveLength(1);
      expect(server.store.all('Slot').filter(({ status }) => status !== 'free')).toHaveLength(1);
      await expect(write(connector, changes)).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    }
  });
});

describe.each(modes.slice(0, 2))('a cancellation %s whose connection is cut', (_, options, settings) => {
  test('is unknown or done, and done after a retry', async () => {
    for (const fault of ['cut_before', 'cut_during', 'cut_after'] as const) {
      for (const place of [1, 2, 3]) {
        const { server, connector } = await open(options, settings);
        const [slot] = await freeSlots(connector, 1);
        const [made] = await write(connector, [creation(slot)]);
        server.misbehave = onWrite(place, fault);
        const operationId = randomUUID();
        const cancel = { kind: 'cancel', appointmentId: made?.id ?? '' } as const;
        const first = await write(connector, [cancel], operationId).catch((error: unknown) => error);
        server.misbehave = () => undefined;
        await server.atRest();
        if (first instanceof Error) expect(first).toMatchObject({ kind: 'outcome_unknown' });
        expect(await write(connector, [cancel], operationId)).toMatchObject([{ state: 'cancelled' }]);
      }
    }
  });
});

test('a write that a busy server rejects is retried and done once', async () => {
  const { server, connector } = await open({});
  const [slot] = await freeSlots(connector, 1);
  server.misbehave = onWrite(1, { status: 503, headers: { 'retry-after': '7' } });
  expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
  expect(server.store.all('Appointment')).toHaveLength(1);
});

describe.each(modes)('a booking %s that is interrupted by 429', (_, options, settings) => {
  test.each([false, true])('is never reported as undone if it was done (empty bodies: %s)', async (emptyBodies) => {
    for (const place of [1, 2, 3]) {
      const { server, connector } = await open({ ...options, emptyBodies }, settings);
      const [slot] = await freeSlots(connector, 1);
      let writes = 0;
      server.misbehave = ({ method, path }) => {
        if (writes >= place) return { status: 429, headers: { 'retry-after': '40' } };
        if (method !== 'GET' && !path.endsWith('/_search')) writes += 1;
        return undefined;
      };
      const operationId = randomUUID();
      const result = await write(connector, [creation(slot)], operationId).catch((error: unknown) => error);
      server.misbehave = () => undefined;
      const booked = server.store.all('Appointment').filter(({ status }) => status === 'booked');
      // A claimed Slot that could not be given back is left too.
      const isLeft = booked.length > 0 || server.store.all('Slot').some(({ status }) => status !== 'free');
      if (result instanceof Error) expect(result).toMatchObject({ kind: isLeft ? 'outcome_unknown' : 'unavailable' });
      else expect(booked).toHaveLength(1);
      expect(await write(connector, [creation(slot)], operationId)).toMatchObject([{ state: 'booked' }]);
      expect(server.store.all('Appointment').filter(({ status }) => status === 'booked')).toHaveLength(1);
    }
  });
});

describe.each(modes)('a booking %s that is done but gets no response', (_, options, settings) => {
  test.each([500, 401, 403, 405, 429])('is unknown when the look-up is rejected with %i', async (status) => {
    const { server, connector } = await open(options, settings);
    const [slot] = await freeSlots(connector, 1);
    const isBooked = () => server.store.all('Appointment').some((it) => it.status === 'booked');
    const writesAppointment = ({ method, path }: SeenRequest) =>
      method === 'POST' && (path === '/' || path === '/Appointment' || path.endsWith('$book'));
    server.misbehave = (request) => {
      if (writesAppointment(request)) return 'cut_after';
      return isBooked() && request.path.startsWith('/Appointment') ? { status } : undefined;
    };
    const operationId = randomUUID();
    await expect(write(connector, [creation(slot)], operationId)).rejects.toMatchObject({
      kind: 'outcome_unknown',
    });
    server.misbehave = () => undefined;
    expect(await write(connector, [creation(slot)], operationId)).toMatchObject([{ state: 'booked' }]);
  });
});

test('a booking whose time is already taken is unknown when the look-up of its owner fails', async () => {
  const { server, connector } = await open({});
  const [slot] = await freeSlots(connector, 1);
  let lookUps = 0;
  server.misbehave = ({ method, path, query }) => {
    if (method === 'POST' && path === '/') return 'cut_after';
    if (path !== '/Appointment' || !query.includes('identifier=')) return undefined;
    lookUps += 1;
    const nothing = { status: 200, body: { resourceType: 'Bundle', type: 'searchset' } };
    return lookUps <= 2 ? nothing : { status: 500 };
  };
  await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'outcome_unknown' });
  expect(lookUps).toBe(3);
  expect(server.store.all('Appointment')).toHaveLength(1);
});
