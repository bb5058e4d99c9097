import { describe, expect, test } from 'vitest';
import type { FakeOptions, FakeServer } from '../fake/server.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { openConnector, probeServer, settingsFor } from './subject.ts';

async function start(options: FakeOptions) {
  const server = await startFake({ data: { days: 14 }, ...options });
  return server;
}

describe('a probe', () => {
  async function probe(server: FakeServer, booking: NonNullable<FhirSettings['booking']> = {}) {
    const report = await probeServer(settingsFor(server.url, { booking }));
    const finding = report.findings.find(({ name }) => name === 'size of transactions');
    return { status: finding?.status, recommended: report.recommendedSettings };
  }

  test.each([15, 50, 51, 299])('finds a limit of %i resources, and changes nothing', async (size) => {
    const server = await start({ transactionSize: size });
    const before = structuredClone(server.store.all('Slot'));
    expect(before.length).toBeGreaterThan(300);
    const recommended = { booking: { transaction_size: size } };
    expect(await probe(server)).toEqual({ status: 'warning', recommended });
    expect(server.store.all('Slot')).toEqual(before);
    expect(await probe(server, recommended.booking)).toEqual({ status: 'ok', recommended: {} });
    expect(await probe(server, { transaction_size: size + 1 })).toEqual({ status: 'warning', recommended });
  });

  test('recommends slot claims if a transaction is too small for three changes', async () => {
    const server = await start({ transactionSize: 14 });
    expect(await probe(server)).toEqual({ status: 'warning', recommended: { booking: { mode: 'slot_claim' } } });
  });

  test.each([
    ['does not check If-Match', { status: 200, body: {} }],
    ['rejects the proof of If-Match', { status: 422 }],
  ])('warns without a recommendation if transactions are too small and the server %s', async (_, fault) => {
    const server = await start({ transactionSize: 14 });
    server.misbehave = ({ method }) => (method === 'PUT' ? fault : undefined);
    expect(await probe(server)).toEqual({ status: 'warning', recommended: {} });
  });

  test.each([
    [14, 'slot_claim', {}],
    [14, 'operations', { booking: { mode: 'slot_claim' } }],
    [50, 'slot_claim', { booking: { mode: 'transaction', transaction_size: 50 } }],
  ] as const)('considers the limit of %i resources before it recommends a mode instead of %s', async (...given) => {
    const [transactionSize, mode, recommended] = given;
    const server = await start({ transactionSize, operations: 'ihe' });
    expect(await probe(server, { mode })).toEqual({ status: 'warning', recommended });
  });

  test('recommends nothing if there is no limit', async () => {
    expect(await probe(await start({}))).toEqual({ status: 'ok', recommended: {} });
  });

  test.each([
    ['rejects a large transaction and a wrong version in the same way', { lostClaimStatus: 400, transactionSize: 50 }],
    ['rejects the search for slots', { requiresServiceType: true, transactionSize: 50 }],
  ] as const)('does not find the limit if the server %s', async (_, options) => {
    expect(await probe(await start(options))).toMatchObject({ status: 'untried' });
  });

  test('does not look for the limit on a server that executes transactions as batches', async () => {
    expect(await probe(await start({ transactions: 'as_batch' }))).toMatchObject({ status: undefined });
  });
});

describe('a connection with `transaction_size`', () => {
  const settings = (server: FakeServer) => settingsFor(server.url, { booking: { transaction_size: 15 } });

  test('claims the number of changes that always fit, and rejects more without a request', async () => {
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

  test('rejects changes with too many slots without sending them', async () => {
    const server = await start({ transactionSize: 15 });
    const connector = await openConnector(settings(server));
    const byDay = Map.groupBy(await freeSlots(connector, 60), ({ start }) => start.toISOString().slice(0, 10));
    // Each change from 08:00 to 12:00 writes eight slots and the appointment.
    const changes = [...byDay.values()].slice(0, 3).map((day) => {
      const [first, last] = [day[0], day[7]];
      if (!first || !last) throw new Error('The day has fewer than eight free slots');
      return creation({ ...first, end: last.end });
    });
    server.seen.splice(0);
    const rejected = write(connector, changes);
    await expect(rejected).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('27 resources'),
    });
    expect(server.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(server.store.all('Appointment')).toHaveLength(0);
  });
});

test('a booking cancels only as many expired holds as fit into its transaction', async () => {
  const server = await start({ transactionSize: 15 });
  const connector = await openConnector(settingsFor(server.url, { booking: { transaction_size: 15 } }));
  const slots = await freeSlots(connector, 8);
  const past = new Date(Date.now() - 60_000);
  for (const slot of slots) await write(connector, [creation(slot, past)]);
  const [first, last] = [slots[0], slots[7]];
  if (!first || !last) throw new Error('Not enough slots');
  const whole = { ...first, end: last.end };
  expect(await write(connector, [creation(whole)])).toMatchObject([{ state: 'booked', end: last.end }]);
  // Eight slots and the appointment leave room for six.
  expect(server.store.all('Appointment').filter(({ status }) => status === 'cancelled')).toHaveLength(6);
  await expect(write(connector, [creation(whole)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
});

test('the error for a transaction that is too large names its size', async () => {
  const server = await start({ transactionSize: 15 });
  const connector = await openConnector(settingsFor(server.url));
  const changes = (await freeSlots(connector, 8)).map((slot) => creation(slot));
  const rejected = write(connector, changes);
  await expect(rejected).rejects.toMatchObject({ kind: 'rejected', message: expect.stringContaining('16 resources') });
  expect(server.store.all('Appointment')).toHaveLength(0);
});
