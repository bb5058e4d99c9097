import { randomUUID } from 'node:crypto';
import type { TimeSlot } from '@crossward/connector-kit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { healthcareServices } from '../fake/data-set.ts';
import { refreshed } from '../src/directory/create.ts';
import type { FhirResource, FhirSlot } from '../src/fhir.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

test("only the schedules of the care unit's resources are read", async () => {
  const server = await startFake({ data: { days: 1 } });
  for (let index = 0; index < 3000; index++) {
    const actor = [{ reference: `Practitioner/foreign-${index}` }];
    server.store.save({ resourceType: 'Schedule', id: `foreign-${index}`, actor } as FhirResource);
  }
  const connector = await openConnector(settingsFor(server.url));
  server.seen.splice(0);
  expect(await connector.listResources?.(north)).toHaveLength(4);
  expect(server.seen.length).toBeLessThanOrEqual(8);
});

test.each(['/Location', '/Device'])('if the server rejects a search of %s, all of them are read', async (path) => {
  const server = await startFake({ data: { days: 1 } });
  server.misbehave = (request) =>
    request.path === path && !request.query.includes('_id') ? { status: 400 } : undefined;
  const connector = await openConnector(settingsFor(server.url));
  expect(await connector.listResources?.(north)).toHaveLength(4);
});

describe('what is new in the EHR', () => {
  /** A connector whose directory was read ten seconds ago. */
  async function tenSecondsLater(own: Partial<FhirSettings> = {}) {
    const server = await startFake({ data: { days: 7 } });
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { healthcare_services: _, ...settings } = settingsFor(server.url);
    const connector = await openConnector({ ...settings, ...own });
    const { findResource, listHealthcareServices, listResources, listTimeSlots, changeAppointments } = connector;
    await listResources?.(north);
    vi.setSystemTime(Date.now() + 10_000);
    server.seen.splice(0);
    return { server, findResource, listHealthcareServices, listTimeSlots, changeAppointments };
  }

  test('is found at its first look-up', async () => {
    const { server, findResource, listHealthcareServices } = await tenSecondsLater();
    const actor = [{ reference: 'Practitioner/new' }, { reference: 'Location/north' }];
    for (const resource of [
      { resourceType: 'Practitioner', id: 'new', name: [{ family: 'Ny' }] },
      { resourceType: 'Schedule', id: 'new', actor },
      { resourceType: 'HealthcareService', id: 'new', active: true, name: 'New' },
    ]) {
      server.store.save(resource as FhirResource);
    }
    expect(await findResource?.(north, { type: 'emr_id', value: 'new' })).toMatchObject({ id: 'new' });
    const services = await listHealthcareServices?.(north, ['new']);
    expect(services?.map(({ id }) => id)).toContain('new');
  });

  test('can be booked at once, also by several callers, and is read again once for all', async () => {
    const { server, changeAppointments } = await tenSecondsLater({ healthcare_services: healthcareServices });
    // At night, when no known Slots are.
    const start = new Date(Date.now() + 2 * 86_400_000);
    start.setUTCHours(1, 0, 0, 0);
    const slots = [0, 1, 2].map((index) => ({
      start: new Date(start.getTime() + index * 1_800_000),
      end: new Date(start.getTime() + (index + 1) * 1_800_000),
    }));
    const actor = [{ reference: 'Practitioner/r-1' }, { reference: 'Location/north' }];
    server.store.save({ resourceType: 'Schedule', id: 'new', actor } as FhirResource);
    for (const [index, it] of slots.entries()) {
      const slot = {
        resourceType: 'Slot',
        id: `new-${index}`,
        schedule: { reference: 'Schedule/new' },
        status: 'free',
      };
      server.store.save({ ...slot, start: it.start.toISOString(), end: it.end.toISOString() } as FhirResource);
    }
    const booking = (time: { start: Date; end: Date }) =>
      changeAppointments?.({
        operationId: randomUUID(),
        careUnit: north,
        changes: [{ ...creation({ ...time, resourceId: 'r-1', healthcareServiceId: 'consultation' }) }],
      });
    const booked = await Promise.all(slots.map(booking));
    expect(booked.flat()).toMatchObject(slots.map(() => ({ state: 'booked', resourceId: 'r-1' })));
    const readings = () => server.seen.filter(({ path }) => path === '/Schedule').length;
    expect(readings()).toBe(1);
    // A time that is taken does not read it again and again.
    for (const slot of slots) await expect(booking(slot)).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    expect(readings()).toBe(1);
  });

  test.each([
    ['Slots', {}],
    ['a server that checks', { booking: { mode: 'create' } }],
  ] as const)('is not looked for when a time is taken (%s)', async (_, own) => {
    const options = { ...own, healthcare_services: healthcareServices };
    const { server, listTimeSlots, changeAppointments } = await tenSecondsLater(options);
    const range = { start: new Date(), end: new Date(Date.now() + 7 * 86_400_000) };
    const [slot] = (await listTimeSlots?.({ careUnit: north, ...range, resourceIds: ['r-1'], limit: 1 })) ?? [];
    const booking = async () =>
      changeAppointments?.({ operationId: randomUUID(), careUnit: north, changes: [creation(slot as TimeSlot)] });
    expect(await booking()).toMatchObject([{ state: 'booked' }]);
    // Not every server sets a Slot to `busy`.
    const { start } = slot as TimeSlot;
    const taken = server.store.get(`Slot/slot-r-1-${start.getTime() / 60_000}`);
    server.store.save({ ...taken, status: 'busy' } as FhirResource);
    await expect(booking()).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    expect(server.seen.filter(({ path }) => path === '/Schedule')).toEqual([]);
    // The period is taken out of its schedule, and another gateway has made one in its place.
    server.store.save({ ...taken, status: 'busy-unavailable' } as FhirResource);
    const actor = [{ reference: 'Practitioner/r-1' }, { reference: 'Location/north' }];
    server.store.save({ resourceType: 'Schedule', id: 'new', actor } as FhirResource);
    const schedule = { reference: 'Schedule/new' };
    for (const it of server.store.all('Appointment')) server.store.save({ ...it, status: 'cancelled' } as FhirResource);
    const { extension: _claim, ...free } = { ...taken, id: 'new', schedule, status: 'free' } as FhirSlot;
    server.store.save(free as FhirResource);
    expect(await booking()).toMatchObject([{ state: 'booked' }]);
  });

  test('does not need a request for what is known', async () => {
    const { server, findResource, listHealthcareServices } = await tenSecondsLater();
    expect(await findResource?.(north, { type: 'emr_id', value: 'r-1' })).toMatchObject({ id: 'r-1' });
    const services = await listHealthcareServices?.(north, []);
    expect(services?.map(({ id }) => id)).toEqual(['consultation', 'vaccination']);
    expect(server.seen).toEqual([]);
  });

  test('costs one refresh, however many look-ups find nothing', async () => {
    const { server, findResource, listHealthcareServices } = await tenSecondsLater();
    const look = () =>
      Promise.all([
        ...['a', 'b', 'c'].map((value) => findResource?.(north, { type: 'emr_id', value })),
        listHealthcareServices?.(north, ['a']),
      ]);
    await look();
    const { length } = server.seen;
    expect(length).toBeGreaterThan(0);
    expect(server.seen.filter(({ path }) => path === '/Schedule').length).toBe(1);
    await look();
    expect(server.seen).toHaveLength(length);
  });
});

describe('a refresh', () => {
  function kept(lifetime: number) {
    const loads: { resolve(value: string): void; reject(error: Error): void }[] = [];
    const clock = { now: 0 };
    const load = () => new Promise<string>((resolve, reject) => loads.push({ resolve, reject }));
    return { loads, clock, get: refreshed(load, lifetime, () => clock.now).get };
  }

  test('serves all callers that wait for it', async () => {
    const { loads, get } = kept(1000);
    const waiting = [get('a'), get('a'), get('a')];
    loads[0]?.resolve('first');
    expect(await Promise.all(waiting)).toEqual(['first', 'first', 'first']);
    expect(loads).toHaveLength(1);
  });

  test('runs in the background while callers get the previous value', async () => {
    const { loads, clock, get } = kept(1000);
    const first = get('a');
    loads[0]?.resolve('first');
    await first;
    clock.now = 1000;
    expect(await get('a')).toBe('first');
    expect(await get('a')).toBe('first');
    expect(loads).toHaveLength(2);
    loads[1]?.resolve('second');
    await expect.poll(() => get('a')).toBe('second');
    expect(loads).toHaveLength(2);
  });

  test('that fails keeps the previous value, and the next caller starts another', async () => {
    const { loads, clock, get } = kept(1000);
    const first = get('a');
    loads[0]?.resolve('first');
    await first;
    clock.now = 1000;
    expect(await get('a')).toBe('first');
    loads[1]?.reject(new Error('down'));
    await expect.poll(async () => [await get('a'), loads.length]).toEqual(['first', 3]);
  });

  test('blocks callers if the previous value is too old', async () => {
    const { loads, clock, get } = kept(1000);
    const first = get('a');
    loads[0]?.resolve('first');
    await first;
    clock.now = 2_000;
    const second = get('a');
    loads[1]?.resolve('second');
    expect(await second).toBe('second');
  });
});
