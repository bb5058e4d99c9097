import { randomUUID } from 'node:crypto';
import type { Connector, ScheduleCreation } from '@crossward/connector-kit';
import { Temporal } from 'temporal-polyfill';
import { afterEach, expect, test, vi } from 'vitest';
import { timeZone } from '../fake/data-set.ts';
import type { FakeServer } from '../fake/server.ts';
import type { FhirResource, FhirSlot } from '../src/fhir.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor, south } from './subject.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

async function start(): Promise<FakeServer> {
  const server = await startFake({ data: { days: 1 } });
  return server;
}

function open({ url }: FakeServer, horizonDays: number): Promise<Required<Connector>> {
  const schedules = { write: true, horizon_days: horizonDays };
  return openConnector(settingsFor(url, { schedules })) as Promise<Required<Connector>>;
}

const today = Temporal.Now.plainDateISO(timeZone);

/** One slot a day at this hour, for 40 days. */
function daily(from: Temporal.PlainDate, hour: number): ScheduleCreation {
  return {
    operationId: randomUUID(),
    careUnit: north,
    resourceId: 'r-1',
    healthcareServiceIds: ['consultation'],
    localStart: `${from}T${hour}:00:00`,
    localEnd: `${from}T${hour}:30:00`,
    slotMinutes: 30,
    recurrence: 'FREQ=DAILY;COUNT=40',
  };
}

function slotsOf(server: FakeServer, scheduleId: string): string[] {
  const slots = server.store.all('Slot') as unknown as FhirSlot[];
  return slots
    .filter(({ schedule }) => schedule?.reference === `Schedule/${scheduleId}`)
    .map(({ start: at }) => at ?? '')
    .sort();
}

test('a schedule that started weeks ago gets slots to come alone', async () => {
  const server = await start();
  const before = new Date().toISOString();
  const { id } = await (await open(server, 10)).createSchedule(daily(today.subtract({ days: 20 }), 20));
  const first = slotsOf(server, id);
  expect(first.length).toBeGreaterThan(8);
  expect(first.filter((at) => at < before)).toEqual([]);
  await (await open(server, 60)).extendSchedules(north);
  expect(slotsOf(server, id).slice(0, first.length)).toEqual(first);
  expect([19, 20]).toContain(slotsOf(server, id).length);
});

test.each([0, 1])('a schedule that fails to grow does not stop the others: schedule %i', async (failing) => {
  const server = await start();
  const connector = await open(server, 10);
  const ids: string[] = [];
  for (const hour of [18, 20]) ids.push((await connector.createSchedule(daily(today, hour))).id);
  const later = await open(server, 60);
  server.misbehave = ({ method, body }) =>
    method === 'POST' && body.includes('"transaction"') && body.includes(`"Schedule/${ids[failing]}"`)
      ? { status: 422 }
      : undefined;
  await expect(later.extendSchedules(north)).rejects.toMatchObject({ kind: 'rejected' });
  const counts = ids.map((id) => slotsOf(server, id).length);
  expect(counts[failing]).toBeLessThan(15);
  expect(counts[1 - failing]).toBeGreaterThan(35);
});

test('a schedule that somebody changes before it gives way is looked up later', async () => {
  const server = await start();
  const connector = await open(server, 10);
  const creation = daily(today.add({ days: 1 }), 20);
  const { start: at, end } = { start: creation.localStart, end: creation.localEnd };
  const instant = (local: string) =>
    Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone).toInstant().toString();
  let changes = 0;
  server.misbehave = ({ method, path }) => {
    const isWrite = method === 'POST' && !path.endsWith('/_search');
    // The staff add a Slot at the same time, then change the new Schedule.
    if (isWrite && path === '/Schedule') {
      const schedule = { reference: 'Schedule/schedule-r-1' };
      const slot = { resourceType: 'Slot', id: 'by-staff', status: 'free', schedule };
      server.store.save({ ...slot, start: instant(at), end: instant(end) } as FhirResource);
    } else if (isWrite && changes++ === 0) {
      const own = server.store.all('Schedule').find(({ id }) => !id?.startsWith('schedule-'));
      if (own) server.store.save(own);
    }
    return undefined;
  };
  await expect(connector.createSchedule(creation)).rejects.toMatchObject({ kind: 'outcome_unknown' });
  expect(await connector.findScheduleWrite(north, creation.operationId)).toBeNull();
  expect(slotsOf(server, 'schedule-r-1')).toContainEqual(instant(at));
});

test.each<[string, (connector: Required<Connector>, server: FakeServer) => Promise<unknown>]>([
  ['a schedule', (connector) => connector.createSchedule(daily(today.add({ days: 3 }), 20))],
  [
    "a Slot of the EHR's own schedule",
    async (_, server) => {
      const at = today.add({ days: 5 }).toZonedDateTime({ timeZone, plainTime: '20:00' });
      const [start, end] = [at, at.add({ minutes: 30 })].map((it) => it.toInstant().toString());
      const schedule = { reference: 'Schedule/schedule-r-1' };
      server.store.save({ resourceType: 'Slot', id: 'late', status: 'free', schedule, start, end } as FhirResource);
    },
  ],
])('a schedule must not overlap %s of the resource at another care unit', async (_, occupy) => {
  const server = await start();
  const schedule = server.store.get('Schedule/schedule-r-1');
  const actor = ['Practitioner/r-1', 'Location/south'].map((reference) => ({ reference }));
  server.store.save({ ...schedule, id: 'schedule-r-1-south', actor } as FhirResource);
  server.store.save({ ...schedule, actor: [actor[0], { reference: 'Location/north' }] } as FhirResource);
  const connector = await open(server, 10);
  await occupy(connector, server);
  const write = (hour: number) => connector.createSchedule({ ...daily(today.add({ days: 1 }), hour), careUnit: south });
  await expect(write(20)).rejects.toMatchObject({ kind: 'schedule_overlap' });
  expect(await write(21)).toMatchObject({ resourceId: 'r-1' });
});

test('a creation with more slots than it has time for is left to the background job', async () => {
  const server = await start();
  const connector = await open(server, 60);
  const { now } = performance;
  let passed = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + passed);
  server.misbehave = ({ body }) => {
    if (body.includes('"transaction"')) passed += 6_000;
    return undefined;
  };
  const from = today.add({ days: 1 });
  const creation = { ...daily(from, 20), localEnd: `${from}T22:00:00`, slotMinutes: 15 };
  const { id } = await connector.createSchedule(creation);
  const first = slotsOf(server, id);
  expect(first).toHaveLength(100);
  server.misbehave = () => undefined;
  await connector.extendSchedules(north);
  expect(slotsOf(server, id)).toHaveLength(40 * 8);
  expect(slotsOf(server, id).slice(0, 100)).toEqual(first);
});
