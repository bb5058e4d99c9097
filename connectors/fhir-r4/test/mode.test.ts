import { afterEach, expect, test } from 'vitest';
import { type FakeServer, startFake } from '../fake/server.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { openConnector, settingsFor } from './subject.ts';

type Mode = NonNullable<FhirSettings['booking']>['mode'];

const servers: FakeServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A server whose statement names these ways alone to change an Appointment, or none. */
async function open(mode: Mode & string, ways: readonly string[]) {
  const server = await startFake({ data: { days: 14 } });
  servers.push(server);
  const statement = (await (await fetch(`${server.url}/metadata`)).json()) as {
    rest: { resource: { type: string; interaction: { code: string }[] }[] }[];
  };
  const appointment = statement.rest[0]?.resource.find(({ type }) => type === 'Appointment');
  if (!appointment) throw new Error('The statement names no Appointment');
  appointment.interaction = ['read', 'search-type', 'create', ...ways].map((code) => ({ code }));
  server.misbehave = ({ method, path }) => {
    if (path === '/metadata') return { status: 200, body: statement };
    const isRefused = (method === 'PUT' && !ways.includes('update')) || (method === 'PATCH' && !ways.includes('patch'));
    return isRefused && path.startsWith('/Appointment/') ? { status: 405 } : undefined;
  };
  return { server, connector: await openConnector(settingsFor(server.url, { booking: { mode } })) };
}

const inTenMinutes = () => new Date(Date.now() + 600_000);
const everything = ['create', 'update', 'cancel', 'confirm', 'extend', 'release'];

test.each([
  ['transaction', []],
  ['transaction', ['patch']],
  ['slot_claim', []],
  ['auto', []],
] as const)('by %s, a server that changes Appointments by %j takes bookings alone', async (mode, ways) => {
  const { connector } = await open(mode, ways);
  expect(connector.capabilities.changes).toEqual(['create']);
  const [slot] = await freeSlots(connector, 1);
  const held = write(connector, [creation(slot as never, inTenMinutes())]);
  await expect(held).rejects.toMatchObject({ kind: 'unsupported' });
  expect(await write(connector, [creation(slot as never)])).toMatchObject([{ state: 'booked' }]);
});

test.each([
  ['transaction', ['update'], true],
  ['slot_claim', ['update'], false],
  ['slot_claim', ['patch'], false],
  ['auto', ['update', 'patch'], true],
  ['auto', ['patch'], false],
] as const)('by %s, a server that changes Appointments by %j takes everything', async (mode, ways, transactions) => {
  const { connector } = await open(mode, ways);
  expect(connector.capabilities).toMatchObject({ changes: everything, transactions });
  const [slot] = await freeSlots(connector, 1);
  const [held] = await write(connector, [creation(slot as never, inTenMinutes())]);
  const appointmentId = held?.id ?? '';
  expect(await write(connector, [{ kind: 'confirm', appointmentId }])).toMatchObject([{ state: 'booked' }]);
  expect(await write(connector, [{ kind: 'cancel', appointmentId }])).toMatchObject([{ state: 'cancelled' }]);
  expect(await freeSlots(connector, 1)).toEqual([slot]);
});
