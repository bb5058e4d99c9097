import { randomUUID } from 'node:crypto';
import type { Connector, ScheduleCreation } from '@crossward/connector-kit';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, onTestFinished, test } from 'vitest';
import { timeZone } from '../fake/data-set.ts';
import type { FakeOptions, FakeServer, Fault, SeenRequest } from '../fake/server.ts';
import type { FhirResource, FhirSlot } from '../src/fhir.ts';
import type { FhirSettings } from '../src/settings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

type Writer = Required<Connector>;

async function start(options: FakeOptions = {}): Promise<FakeServer> {
  const server = await startFake({ ...options, data: { days: 14 } });
  return server;
}

function open(server: FakeServer, horizonDays = 60, settings: Partial<FhirSettings> = {}): Promise<Writer> {
  const schedules = { write: true, horizon_days: horizonDays };
  return openConnector(settingsFor(server.url, { schedules, ...settings })) as Promise<Writer>;
}

const tomorrow = Temporal.Now.plainDateISO(timeZone).add({ days: 1 });

/** Four slots in the evening of each day from tomorrow on. */
function evenings(days: number, change: Partial<ScheduleCreation> = {}): ScheduleCreation {
  return {
    operationId: randomUUID(),
    careUnit: north,
    resourceId: 'r-1',
    healthcareServiceIds: ['consultation'],
    localStart: `${tomorrow}T18:00:00`,
    localEnd: `${tomorrow}T20:00:00`,
    slotMinutes: 30,
    recurrence: `FREQ=DAILY;COUNT=${days}`,
    ...change,
  };
}

function evening(day: number) {
  const at = (time: string) =>
    new Date(tomorrow.add({ days: day }).toZonedDateTime({ timeZone, plainTime: time }).epochMilliseconds);
  return { start: at('18:00'), end: at('20:00') };
}

/** The starts of the free Slots of the schedules that the gateway has created. */
function freeStarts(server: FakeServer): string[] {
  return (server.store.all('Slot') as unknown as FhirSlot[])
    .filter(({ schedule, status }) => !schedule?.reference?.startsWith('Schedule/schedule-') && status === 'free')
    .map(({ start }) => start ?? '')
    .sort();
}

function startsOn(days: readonly number[]): string[] {
  const slots = [0, 30, 60, 90];
  return days
    .flatMap((day) => slots.map((it) => new Date(evening(day).start.getTime() + it * 60_000).toISOString()))
    .sort();
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function onWrite(place: number, fault: Fault) {
  let writes = 0;
  return ({ method, path }: SeenRequest) => {
    const isWrite = method !== 'GET' && !path.endsWith('/_search');
    return isWrite && ++writes === place ? fault : undefined;
  };
}

test('a creation that the server rejects because of others at the same time is tried again', async () => {
  const server = await start();
  const connector = await open(server);
  const conflict = { status: 409, body: { resourceType: 'OperationOutcome', issue: [{ code: 'conflict' }] } };
  let creates = 0;
  const isCreate = ({ method, path }: SeenRequest) => method === 'POST' && path === '/Schedule';
  server.misbehave = (request) => (isCreate(request) && ++creates <= 2 ? conflict : undefined);
  await connector.createSchedule(evenings(1));
  expect(creates).toBe(3);
  expect(freeStarts(server)).toHaveLength(4);
});

describe('a creation without a response', () => {
  test.each([
    ['before a request is executed', 'cut_before', {}],
    ['while a request is executed', 'cut_during', {}],
    ['after a request is executed', 'cut_after', {}],
    ['while a request is executed, without If-None-Exist', 'cut_during', { heedsIfNoneExist: false }],
  ] as const)('is finished once when the connection is cut %s', async (_, fault, options) => {
    // The Schedule, then its 160 slots in two transactions.
    for (const place of [1, 2, 3]) {
      const server = await start(options);
      const connector = await open(server);
      const creation = evenings(40);
      server.misbehave = onWrite(place, fault);
      await connector.createSchedule(creation).catch(() => undefined);
      server.misbehave = () => undefined;
      const isLookedUp = place !== 1;
      const found = isLookedUp
        ? await connector.findScheduleWrite(north, creation.operationId)
        : await connector.createSchedule(creation);
      await server.atRest();
      expect(await connector.createSchedule(creation)).toEqual(found);
      expect(freeStarts(server)).toEqual(startsOn(range(40)));
      const listed = await connector.listSchedules({ careUnit: north, resourceId: 'r-1', limit: 100 });
      expect(listed.filter(({ slotMinutes }) => slotMinutes !== null)).toEqual([found]);
    }
  });
});

test('a creation that another gateway has ended since it was looked for is no overlap of its own', async () => {
  const server = await start();
  const [slow, quick] = await Promise.all([open(server), open(server)]);
  const creation = evenings(1);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let isHeldBack = true;
  // The look-up of the write comes first.
  const from = server.seen.length + 1;
  server.misbehave = () => (isHeldBack && server.seen.length > from ? { heldBackUntil: ended } : undefined);
  const created = slow.createSchedule(creation);
  await expect.poll(() => server.seen.length).toBeGreaterThan(from);
  isHeldBack = false;
  const first = await quick.createSchedule(creation);
  end();
  expect(await created).toEqual(first);
  expect(freeStarts(server)).toEqual(startsOn([0]));
});

test('slots are added as time passes, each once', async () => {
  const server = await start();
  const before = await open(server, 10);
  await before.createSchedule(evenings(30));
  const first = freeStarts(server);
  expect(first.length).toBeLessThan(11 * 4);
  // Ten days later, the horizon has moved. Two gateways notice it at the same time.
  const [one, two] = await Promise.all([open(server, 20), open(server, 20)]);
  await Promise.all([one, two].map((connector) => connector.extendSchedules(north)));
  const second = freeStarts(server);
  expect(second.length).toBeGreaterThan(first.length + 9 * 4);
  expect(second).toEqual(startsOn(range(30)).slice(0, second.length));
  await one.extendSchedules(north);
  expect(freeStarts(server)).toEqual(second);
  await (await open(server, 60)).extendSchedules(north);
  expect(freeStarts(server)).toEqual(startsOn(range(30)));
});

test('an exception beyond the horizon counts when its slots would be added', async () => {
  const server = await start();
  const connector = await open(server, 10);
  const { id } = await connector.createSchedule(evenings(30));
  const operationId = randomUUID();
  const write = { careUnit: north, resourceId: 'r-1', scheduleId: id };
  await connector.addScheduleException({ ...write, operationId, ...evening(20) });
  await connector.endSchedule({ ...write, operationId: randomUUID(), end: evening(25).start });
  const later = await open(server, 60);
  await later.extendSchedules(north);
  const kept = range(25).filter((day) => day !== 20);
  expect(freeStarts(server)).toEqual(startsOn(kept));
  expect(await later.withdrawSchedule(north, operationId)).toBe('withdrawn');
  expect(freeStarts(server)).toEqual(startsOn(range(25)));
});

test("the EHR's own schedules are listed, count as overlaps, and are not changed", async () => {
  const server = await start();
  const connector = await open(server);
  const planningHorizon = { start: '2027-01-04T00:00:00+01:00', end: '2027-03-01T00:00:00+01:00' };
  server.store.save({ ...server.store.get('Schedule/schedule-r-1'), planningHorizon });
  const list = (year: number) =>
    connector.listSchedules({
      careUnit: north,
      resourceId: 'r-1',
      limit: 10,
      range: { start: new Date(`${year}-01-01`), end: new Date(`${year}-12-31`) },
    });
  expect(await list(2027)).toEqual([
    {
      id: 'schedule-r-1',
      resourceId: 'r-1',
      healthcareServiceIds: ['consultation', 'vaccination'],
      localStart: '2027-01-04T00:00:00',
      localEnd: '2027-03-01T00:00:00',
      slotMinutes: null,
      recurrence: null,
      endsAt: null,
      exceptions: [],
    },
  ]);
  expect(await list(2028)).toEqual([]);
  const daytime = evenings(7, { localStart: `${tomorrow}T10:15:00`, localEnd: `${tomorrow}T10:45:00` });
  await expect(connector.createSchedule(daytime)).rejects.toMatchObject({ kind: 'schedule_overlap' });
  const write = { operationId: randomUUID(), careUnit: north, resourceId: 'r-1', scheduleId: 'schedule-r-1' };
  await expect(connector.endSchedule({ ...write, end: new Date() })).rejects.toMatchObject({ kind: 'unsupported' });
});

test.each(['UTC', 'Pacific/Kiritimati', 'America/St_Johns'])(
  'a planning horizon is read in the care unit, by a process in %s',
  async (zone) => {
    const own = process.env.TZ;
    onTestFinished(() => {
      if (own === undefined) delete process.env.TZ;
      else process.env.TZ = own;
    });
    process.env.TZ = zone;
    const server = await start();
    const connector = await open(server);
    const bounds = async (planningHorizon: object) => {
      server.store.save({ ...server.store.get('Schedule/schedule-r-1'), planningHorizon } as FhirResource);
      const [found] = await connector.listSchedules({ careUnit: north, resourceId: 'r-1', limit: 10 });
      return [found?.localStart, found?.localEnd];
    };
    // Bare dates are days of the care unit. The last one is part of the period.
    expect(await bounds({ start: '2027-01-04', end: '2027-02-28' })).toEqual([
      '2027-01-04T00:00:00',
      '2027-03-01T00:00:00',
    ]);
    // Nobody knows which time this is.
    expect(await bounds({ start: '2027-01-04T08:00:00', end: '2027-02-30' })).toEqual([null, null]);
  },
);

test('slots that the staff have blocked stay blocked', async () => {
  const server = await start();
  const connector = await open(server);
  const { id } = await connector.createSchedule(evenings(1));
  const slot = server.store.all('Slot').find((it) => it.start === evening(0).start.toISOString());
  if (!slot) throw new Error('No slot');
  server.store.save({ ...slot, status: 'busy-unavailable' });
  const operationId = randomUUID();
  const write = { operationId, careUnit: north, resourceId: 'r-1', scheduleId: id };
  await connector.addScheduleException({ ...write, ...evening(0) });
  expect(freeStarts(server)).toEqual([]);
  await connector.withdrawSchedule(north, operationId);
  expect(freeStarts(server)).toEqual(startsOn([0]).slice(1));
});

test('a server that limits its transactions gets the slots in parts', async () => {
  const server = await start({ transactionSize: 20 });
  const connector = await open(server, 60, { booking: { transaction_size: 20 } });
  const { id } = await connector.createSchedule(evenings(12));
  expect(freeStarts(server)).toEqual(startsOn(range(12)));
  const write = { operationId: randomUUID(), careUnit: north, resourceId: 'r-1', scheduleId: id };
  const whole = { start: evening(0).start, end: evening(11).end };
  await expect(connector.addScheduleException({ ...write, ...whole })).rejects.toMatchObject({ kind: 'rejected' });
  expect(freeStarts(server)).toEqual(startsOn(range(12)));
});

describe('the withdrawal of a creation in a server that limits its transactions', () => {
  async function created() {
    const server = await start({ transactionSize: 20 });
    const connector = await open(server, 60, { booking: { transaction_size: 20 } });
    const creation = evenings(12);
    const { id } = await connector.createSchedule(creation);
    server.seen.splice(0);
    return { server, connector, operationId: creation.operationId, id };
  }
  const isTransaction = ({ method, path }: SeenRequest) => method === 'POST' && path === '/';

  test('takes several', async () => {
    const { server, connector, operationId, id } = await created();
    expect(await connector.withdrawSchedule(north, operationId)).toBe('withdrawn');
    expect(server.seen.filter(isTransaction)).toHaveLength(3);
    expect(freeStarts(server)).toEqual([]);
    expect(server.store.get(`Schedule/${id}`)).toMatchObject({ active: false });
    expect(await connector.findScheduleWrite(north, operationId)).toBeNull();
  });

  test.each([1, 2, 3])('is finished by the next call if transaction %i got no response', async (place) => {
    const { server, connector, operationId, id } = await created();
    let count = 0;
    server.misbehave = (request) => (isTransaction(request) && ++count === place ? 'cut_after' : undefined);
    await expect(connector.withdrawSchedule(north, operationId)).rejects.toMatchObject({ kind: 'outcome_unknown' });
    expect(await connector.withdrawSchedule(north, operationId)).toBe('withdrawn');
    expect(freeStarts(server)).toEqual([]);
    expect(server.store.get(`Schedule/${id}`)).toMatchObject({ active: false });
  });

  test('gives the slots back if one is booked in between', async () => {
    const { server, connector, operationId, id } = await created();
    let count = 0;
    server.misbehave = (request) => {
      if (!isTransaction(request) || ++count !== 2) return undefined;
      const { start, end } = server.store
        .all('Slot')
        .find((it) => it.start === startsOn([4])[0]) as unknown as Required<FhirSlot>;
      server.store.save({
        resourceType: 'Appointment',
        status: 'booked',
        start,
        end,
        participant: [
          { actor: { reference: 'Patient/p-1' }, status: 'accepted' },
          { actor: { reference: 'Practitioner/r-1' }, status: 'accepted' },
          { actor: { reference: 'Location/north' }, status: 'accepted' },
        ],
      });
      return { status: 412 };
    };
    expect(await connector.withdrawSchedule(north, operationId)).toBe('changed');
    expect(freeStarts(server)).toEqual(startsOn(range(12)));
    expect(server.store.get(`Schedule/${id}`)).toMatchObject({ active: true });
  });
});

test('schedules cannot be written in a booking mode without transactions', async () => {
  const server = await start();
  for (const mode of ['slot_claim', 'operations', 'create', 'none'] as const) {
    await expect(open(server, 60, { booking: { mode } })).rejects.toMatchObject({
      kind: 'rejected',
      message: 'schedules.write needs booking.mode: transaction',
    });
  }
});

test.each<[string, FakeOptions, Partial<FhirSettings>]>([
  ['that drops operation ids', {}, { booking: { operation_lookup: false } }],
  ['without the setting', {}, { schedules: {} }],
  ['without transactions', { transactions: 'none' }, {}],
  ['that lets no Slot be written', { transactions: 'none', plainWrites: false }, {}],
])('a connection %s reads schedules alone', async (_, options, settings) => {
  const connector: Connector = await open(await start(options), 60, settings);
  expect(connector).toMatchObject({ listSchedules: expect.any(Function), findSchedule: expect.any(Function) });
  expect(connector.createSchedule ?? connector.endSchedule ?? connector.extendSchedules).toBeUndefined();
});
