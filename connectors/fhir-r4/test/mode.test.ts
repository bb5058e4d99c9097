import { expect, test } from 'vitest';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { openConnector, settingsFor } from './subject.ts';

type Mode = NonNullable<FhirSettings['booking']>['mode'];

/** A server whose CapabilityStatement names only these interactions to change an Appointment. */
async function open(mode: Mode & string, interactions: readonly string[]) {
  const server = await startFake({ data: { days: 14 } });
  const statement = (await (await fetch(`${server.url}/metadata`)).json()) as {
    rest: { resource: { type: string; interaction: { code: string }[] }[] }[];
  };
  const appointment = statement.rest[0]?.resource.find(({ type }) => type === 'Appointment');
  if (!appointment) throw new Error('The CapabilityStatement does not name Appointment');
  appointment.interaction = ['read', 'search-type', 'create', ...interactions].map((code) => ({ code }));
  server.misbehave = ({ method, path }) => {
    if (path === '/metadata') return { status: 200, body: statement };
    const isRejected =
      (method === 'PUT' && !interactions.includes('update')) || (method === 'PATCH' && !interactions.includes('patch'));
    return isRejected && path.startsWith('/Appointment/') ? { status: 405 } : undefined;
  };
  return { server, connector: await openConnector(settingsFor(server.url, { booking: { mode } })) };
}

const inTenMinutes = () => new Date(Date.now() + 600_000);
const everyChange = ['create', 'update', 'cancel', 'confirm', 'extend', 'release'];

test.each([
  ['transaction', []],
  ['transaction', ['patch']],
  ['slot_claim', []],
  ['auto', []],
] as const)(
  'in `%s`, a server with the interactions %j on Appointment supports only bookings',
  async (mode, interactions) => {
    const { connector } = await open(mode, interactions);
    expect(connector.capabilities.changes).toEqual(['create']);
    const [slot] = await freeSlots(connector, 1);
    const held = write(connector, [creation(slot, inTenMinutes())]);
    await expect(held).rejects.toMatchObject({ kind: 'unsupported' });
    expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
  },
);

test.each([
  ['transaction', ['update'], true],
  ['slot_claim', ['update'], false],
  ['slot_claim', ['patch'], false],
  ['auto', ['update', 'patch'], true],
  ['auto', ['patch'], false],
] as const)(
  'in `%s`, a server with the interactions %j on Appointment supports every change',
  async (mode, interactions, transactions) => {
    const { connector } = await open(mode, interactions);
    expect(connector.capabilities).toMatchObject({ changes: everyChange, transactions });
    const [slot] = await freeSlots(connector, 1);
    const [held] = await write(connector, [creation(slot, inTenMinutes())]);
    const appointmentId = held?.id ?? '';
    expect(await write(connector, [{ kind: 'confirm', appointmentId }])).toMatchObject([{ state: 'booked' }]);
    expect(await write(connector, [{ kind: 'cancel', appointmentId }])).toMatchObject([{ state: 'cancelled' }]);
    expect(await freeSlots(connector, 1)).toEqual([slot]);
  },
);
