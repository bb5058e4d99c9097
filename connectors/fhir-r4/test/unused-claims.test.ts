import { randomUUID } from 'node:crypto';
import type { AppointmentChange, TimeSlot } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import type { FakeServer, Fault, SeenRequest } from '../fake/server.ts';
import type { FhirSlot } from '../src/fhir.ts';
import { claimedSlot, claimOf } from '../src/mappers/slot.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

async function start() {
  const server = await startFake({ transactions: 'none', data: { days: 14 } });
  const connector = await openConnector(settingsFor(server.url));
  const [first, second] = (await freeSlots(connector, 2)) as [TimeSlot, TimeSlot];
  const slotAt = ({ resourceId, start: at }: TimeSlot) =>
    server.store.get(`Slot/slot-${resourceId}-${at.getTime() / 60_000}`) as unknown as FhirSlot;
  return { server, connector, first, second, slotAt };
}

const isGivingBack = ({ method, path, body }: SeenRequest) =>
  method === 'PUT' && path.startsWith('/Slot/') && body.includes('"status":"free"');
const isOfAppointment = ({ method, path }: SeenRequest) => method !== 'GET' && path.startsWith('/Appointment');
const rejected = { status: 422 } as const;

/** The server rejects the Appointment. From the first try to give a Slot back on, it does nothing any more. */
function rejectAndStop(server: FakeServer, fault: Fault, isRejected = isOfAppointment): void {
  let hasStopped = false;
  server.misbehave = (request) => {
    hasStopped ||= isGivingBack(request);
    if (hasStopped) return fault;
    return isRejected(request) ? rejected : undefined;
  };
}

function endClaim({ store }: FakeServer, slot: FhirSlot): void {
  const owner = claimOf(slot)?.owner ?? '';
  store.save(claimedSlot(slot, slot.status as 'busy', { owner, until: new Date(Date.now() - 1000) }));
}

const faults: readonly (readonly [string, Fault])[] = [
  ['limits the rate', { status: 429, headers: { 'retry-after': '40' } }],
  ['fails', { status: 500 }],
  ['cuts the connection', 'cut_before'],
];

describe.each(faults)('a server that %s when a claimed Slot is given back', (_, fault) => {
  const kinds = ['a booking', 'a booking by a repeated call', 'a hold', 'a move'] as const;
  test.each(kinds)('leaves %s unknown until a look-up has freed the Slot', async (kind) => {
    const { server, connector, first, second, slotAt } = await start();
    const operationId = randomUUID();
    const change = async (): Promise<AppointmentChange> => {
      if (kind === 'a hold') return creation(first, new Date(Date.now() + 600_000));
      if (kind !== 'a move') return creation(first);
      const [made] = await write(connector, [creation(second)]);
      return { kind: 'update', appointmentId: made?.id ?? '', time: { start: first.start, end: first.end } };
    };
    const changes = [await change()];
    rejectAndStop(server, fault);
    const isFirst = kind !== 'a booking by a repeated call';
    const unknown = { kind: 'outcome_unknown' };
    await expect(write(connector, changes, operationId, isFirst)).rejects.toMatchObject(unknown);
    expect(slotAt(first).status).toMatch('busy');
    server.misbehave = () => undefined;
    // A delayed request of the write may still need the Slot. Another gateway knows the same.
    const other = await openConnector(settingsFor(server.url));
    for (const it of [connector, other])
      await expect(it.findOperation?.(north, operationId, changes)).rejects.toMatchObject(unknown);
    endClaim(server, slotAt(first));
    rejectAndStop(server, fault);
    await expect(other.findOperation?.(north, operationId, changes)).rejects.toMatchObject({
      kind: expect.stringMatching(/^(outcome_unknown|unavailable|rejected|timeout|connection_closed)$/),
    });
    server.misbehave = () => undefined;
    expect(await other.findOperation?.(north, operationId, changes)).toBeNull();
    expect(slotAt(first)).toMatchObject({ status: 'free' });
    expect(claimOf(slotAt(first))).toBeNull();
    expect(slotAt(second).status).toBe(kind === 'a move' ? 'busy' : 'free');
  });
});

test('a booking that lost one of its Slots to another is unknown until the others are freed', async () => {
  const { server, connector, first, second, slotAt } = await start();
  const operationId = randomUUID();
  const changes = [creation({ ...first, end: second.end })];
  const { pathname } = new URL(`Slot/${slotAt(second).id}`, 'http://ehr');
  let hasStopped = false;
  server.misbehave = (request) => {
    hasStopped ||= isGivingBack(request);
    if (hasStopped) return { status: 429 };
    if (request.method === 'PUT' && request.path === pathname) server.store.save({ ...slotAt(second), status: 'busy' });
    return undefined;
  };
  await expect(write(connector, changes, operationId, true)).rejects.toMatchObject({ kind: 'outcome_unknown' });
  server.misbehave = () => undefined;
  endClaim(server, slotAt(first));
  expect(await connector.findOperation?.(north, operationId, changes)).toBeNull();
  expect([first, second].map((it) => slotAt(it).status)).toEqual(['free', 'busy']);
});

test('a Slot that was given back without a response leaves nothing unknown', async () => {
  const { server, connector, first, slotAt } = await start();
  server.misbehave = (request) => {
    if (isGivingBack(request)) return 'cut_after';
    return isOfAppointment(request) ? rejected : undefined;
  };
  await expect(write(connector, [creation(first)])).rejects.toMatchObject({ kind: 'rejected' });
  expect(slotAt(first).status).toBe('free');
});

test('a Slot that staff have booked in the meantime stays taken', async () => {
  const { server, connector, first, slotAt } = await start();
  const operationId = randomUUID();
  const changes = [creation(first)];
  rejectAndStop(server, { status: 429 });
  await expect(write(connector, changes, operationId, true)).rejects.toMatchObject({ kind: 'outcome_unknown' });
  server.misbehave = () => undefined;
  endClaim(server, slotAt(first));
  const participant = ['Patient/p-3', 'Practitioner/r-1'].map((it) => ({
    actor: { reference: it },
    status: 'accepted',
  }));
  const time = { start: first.start.toISOString(), end: first.end.toISOString() };
  const slot = [{ reference: `Slot/${slotAt(first).id}` }];
  server.store.save({
    resourceType: 'Appointment',
    id: 'staff',
    status: 'booked',
    ...time,
    slot,
    participant,
  });
  expect(await connector.findOperation?.(north, operationId, changes)).toBeNull();
  expect(slotAt(first).status).toBe('busy');
});
