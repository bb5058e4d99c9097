import { afterEach, expect, test, vi } from 'vitest';
import { type FakeOptions, type FakeServer, type SeenRequest, startFake } from '../fake/server.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { openConnector, settingsFor } from './subject.ts';

const servers: FakeServer[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) await server.close();
});

async function open(options: FakeOptions) {
  const server = await startFake({ ...options, data: { days: 14 } });
  servers.push(server);
  const connector = await openConnector(settingsFor(server.url));
  server.seen.splice(0);
  return { server, connector };
}

const isCreation = ({ method, path }: SeenRequest) => method === 'POST' && path === '/Appointment';
const isClaim = ({ method, path }: SeenRequest) => method === 'PUT' && path.startsWith('/Slot/');
const conflict = { status: 409, body: { resourceType: 'OperationOutcome', issue: [{ code: 'conflict' }] } } as const;

test('a transaction asks for nothing that a database would have to look for among other bookings', async () => {
  const { server, connector } = await open({ conditionalTransactions: 'conflict' });
  const slots = await freeSlots(connector, 10);
  const booked = await Promise.all(slots.map((slot) => write(connector, [creation(slot)])));
  expect(booked.flat().map(({ state }) => state)).toEqual(slots.map(() => 'booked'));
  expect(server.seen.filter(({ method, path }) => method === 'POST' && path === '/')).toHaveLength(10);
});

test('a creation that meets another one is sent again, and its slots stay claimed meanwhile', async () => {
  const { server, connector } = await open({ transactions: 'none' });
  let met = 0;
  server.misbehave = (request) => (isCreation(request) && met++ < 3 ? conflict : undefined);
  const [slot] = await freeSlots(connector, 1);
  expect(await write(connector, [creation(slot as never)])).toMatchObject([{ state: 'booked' }]);
  expect(server.seen.filter(isCreation)).toHaveLength(4);
  expect(server.seen.filter(isClaim)).toHaveLength(2);
});

test('a creation that always meets another one gives its slots back', async () => {
  const { server, connector } = await open({ transactions: 'none' });
  // The pauses between the attempts are random; the shortest are none.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  server.misbehave = (request) => (isCreation(request) ? conflict : undefined);
  const [slot] = await freeSlots(connector, 1);
  await expect(write(connector, [creation(slot as never)])).rejects.toMatchObject({ kind: 'unavailable' });
  expect(server.store.all('Slot').filter(({ status }) => status !== 'free')).toHaveLength(0);
});
