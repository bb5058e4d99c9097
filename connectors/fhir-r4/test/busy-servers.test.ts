import { afterEach, expect, test, vi } from 'vitest';
import type { FakeOptions, SeenRequest } from '../fake/server.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { openConnector, settingsFor } from './subject.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

async function open(options: FakeOptions) {
  const server = await startFake({ ...options, data: { days: 14 } });
  const connector = await openConnector(settingsFor(server.url));
  server.seen.splice(0);
  return { server, connector };
}

const isCreate = ({ method, path }: SeenRequest) => method === 'POST' && path === '/Appointment';
const isClaim = ({ method, path }: SeenRequest) => method === 'PUT' && path.startsWith('/Slot/');
const conflict = { status: 409, body: { resourceType: 'OperationOutcome', issue: [{ code: 'conflict' }] } } as const;

test('transactions have no conditional creates, which conflict with concurrent bookings in a database', async () => {
  const { server, connector } = await open({ conditionalTransactions: 'conflict' });
  const slots = await freeSlots(connector, 10);
  const booked = await Promise.all(slots.map((slot) => write(connector, [creation(slot)])));
  expect(booked.flat().map(({ state }) => state)).toEqual(slots.map(() => 'booked'));
  expect(server.seen.filter(({ method, path }) => method === 'POST' && path === '/')).toHaveLength(10);
});

test('a create that conflicts with another one is retried while its slots stay claimed', async () => {
  const { server, connector } = await open({ transactions: 'none' });
  let conflicts = 0;
  server.misbehave = (request) => (isCreate(request) && conflicts++ < 3 ? conflict : undefined);
  const [slot] = await freeSlots(connector, 1);
  expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
  expect(server.seen.filter(isCreate)).toHaveLength(4);
  expect(server.seen.filter(isClaim)).toHaveLength(1);
});

test('a create that always conflicts is unavailable and frees its slots', async () => {
  const { server, connector } = await open({ transactions: 'none' });
  // The pauses between attempts are random. Make them as short as possible.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  server.misbehave = (request) => (isCreate(request) ? conflict : undefined);
  const [slot] = await freeSlots(connector, 1);
  await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'unavailable' });
  expect(server.store.all('Slot').filter(({ status }) => status !== 'free')).toHaveLength(0);
});
