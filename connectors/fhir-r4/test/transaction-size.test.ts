import { afterEach, describe, expect, test } from 'vitest';
import { type FakeOptions, type FakeServer, startFake } from '../fake/server.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { openConnector, probeServer, settingsFor } from './subject.ts';

const servers: FakeServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(options: FakeOptions) {
  const server = await startFake({ data: { days: 14 }, ...options });
  servers.push(server);
  return server;
}

describe('a probe', () => {
  async function probe(server: FakeServer, booking: NonNullable<FhirSettings['booking']> = {}) {
    const report = await probeServer(settingsFor(server.url, { booking }));
    const finding = report.findings.find(({ name }) => name === 'size of transactions');
    return { status: finding?.status, recommended: report.recommendedSettings };
  }

  test.each([15, 50, 51, 299])('finds that a transaction takes %i resources, and changes nothing', async (size) => {
    const server = await start({ transactionSize: size });
    const before = structuredClone(server.store.all('Slot'));
    expect(before.length).toBeGreaterThan(300);
    const recommended = { booking: { transaction_size: size } };
    expect(await probe(server)).toEqual({ status: 'warning', recommended });
    expect(server.store.all('Slot')).toEqual(before);
    expect(await probe(server, recommended.booking)).toEqual({ status: 'ok', recommended: {} });
    expect(await probe(server, { transaction_size: size + 1 })).toEqual({ status: 'warning', recommended });
  });

  test('recommends slot claims where a transaction takes less than three changes need', async () => {
    const server = await start({ transactionSize: 14 });
    expect(await probe(server)).toEqual({ status: 'warning', recommended: { booking: { mode: 'slot_claim' } } });
  });

  test.each([
    ['does not heed If-Match', { status: 200, body: {} }],
    ['does not take the trial of If-Match', { status: 422 }],
  ])('only warns of it where the server %s', async (_, fault) => {
    const server = await start({ transactionSize: 14 });
    server.misbehave = ({ method }) => (method === 'PUT' ? fault : undefined);
    expect(await probe(server)).toEqual({ status: 'warning', recommended: {} });
  });

  test.each([
    [14, 'slot_claim', {}],
    [14, 'operations', { booking: { mode: 'slot_claim' } }],
    [50, 'slot_claim', { booking: { mode: 'transaction', transaction_size: 50 } }],
  ] as const)(
    'heeds that a transaction takes %i resources before it is recommended instead of %s',
    async (...given) => {
      const [transactionSize, mode, recommended] = given;
      const server = await start({ transactionSize, operations: 'ihe' });
      expect(await probe(server, { mode })).toEqual({ status: 'warning', recommended });
    },
  );

  test('finds no limit where there is none', async () => {
    expect(await probe(await start({}))).toEqual({ status: 'ok', recommended: {} });
  });

  test.each([
    ['answers both alike', { lostClaimStatus: 400, transactionSize: 50 }],
    ['wants to be told more in a search for slots', { requiresServiceType: true, transactionSize: 50 }],
  ] as const)('does not know where the server %s', async (_, options) => {
    expect(await probe(await start(options))).toMatchObject({ status: 'untried' });
  });

  test('does not ask a server that runs batches', async () => {
    expect(await probe(await start({ transactions: 'as_batch' }))).toMatchObject({ status: undefined });
  });
});

describe('a connection that knows how much a transaction takes', () => {
  const settings = (server: FakeServer) => settingsFor(server.url, { booking: { transaction_size: 15 } });

  test('claims the changes that surely fit, and refuses more before anything is sent', async () => {
    const server = await start({ transactionSize: 15 });
    const connector = await openConnector(settings(server));
    expect(connector.capabilities).toMatchObject({ transactions: true, changesPerTransaction: 3 });
    const slots = await freeSlots(connector, 4);
    const changes = slots.map((slot) => creation(slot));
    server.seen.splice(0);
    await expect(write(connector, changes)).rejects.toMatchObject({ kind: 'unsupported' });
    expect(server.seen).toEqual([]);
    expect(await write(connector, changes.slice(1))).toHaveLength(3);
  });

  test('refuses few changes of many slots without sending them', async () => {
    const server = await start({ transactionSize: 15 });
    const connector = await openConnector(settings(server));
    const byDay = Map.groupBy(await freeSlots(connector, 60), ({ start }) => start.toISOString().slice(0, 10));
    // Each from eight to twelve: eight slots and the appointment.
    const changes = [...byDay.values()].slice(0, 3).map((day) => {
      const [first, last] = [day[0], day[7]];
      if (!first || !last) throw new Error('A day has twelve slots');
      return creation({ ...first, end: last.end });
    });
    server.seen.splice(0);
    const refused = write(connector, changes);
    await expect(refused).rejects.toMatchObject({ kind: 'rejected', message: expect.stringContaining('27 resources') });
    expect(server.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(server.store.all('Appointment')).toHaveLength(0);
  });
});

test('holds that have run out take no room from what is booked', async () => {
  const server = await start({ transactionSize: 15 });
  const connector = await openConnector(settingsFor(server.url, { booking: { transaction_size: 15 } }));
  const slots = await freeSlots(connector, 8);
  const ran = new Date(Date.now() - 60_000);
  for (const slot of slots) await write(connector, [creation(slot, ran)]);
  const [first, last] = [slots[0], slots[7]];
  if (!first || !last) throw new Error('Too few slots');
  const whole = { ...first, end: last.end };
  expect(await write(connector, [creation(whole)])).toMatchObject([{ state: 'booked', end: last.end }]);
  // Eight slots and the appointment leave room for six.
  expect(server.store.all('Appointment').filter(({ status }) => status === 'cancelled')).toHaveLength(6);
  await expect(write(connector, [creation(whole)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
});

test('a transaction that the server finds too large is told with its size', async () => {
  const server = await start({ transactionSize: 15 });
  const connector = await openConnector(settingsFor(server.url));
  const changes = (await freeSlots(connector, 8)).map((slot) => creation(slot));
  const refused = write(connector, changes);
  await expect(refused).rejects.toMatchObject({ kind: 'rejected', message: expect.stringContaining('16 resources') });
  expect(server.store.all('Appointment')).toHaveLength(0);
});
