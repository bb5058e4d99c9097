import { randomUUID } from 'node:crypto';
import type { Connector, TimeSlot } from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { describe, expect, test } from 'vitest';
import type { FakeServer, SeenRequest } from '../fake/server.ts';
import type { FhirSlot } from '../src/fhir.ts';
import { claimedSlot, claimOf } from '../src/mappers/slot.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { expireHold } from './expire-hold.ts';
import { startFake } from './fake.ts';
import { openConnector, settingsFor } from './subject.ts';

/** A server in mode `slot_claim`, a gateway that can die, and another one that runs on. */
async function start() {
  const server = await startFake({ transactions: 'none', data: { days: 14 } });
  const http = plainHttp();
  const dying = await openConnector(settingsFor(server.url), http);
  const other = await openConnector(settingsFor(server.url));
  const [from, to] = (await freeSlots(other, 2)) as [TimeSlot, TimeSlot];
  const slotAt = ({ resourceId, start: at }: TimeSlot) =>
    server.store.get(`Slot/slot-${resourceId}-${at.getTime() / 60_000}`) as unknown as FhirSlot;
  return { server, http, dying, other, from, to, slotAt };
}

const isAppointmentPut = ({ method, path }: SeenRequest) => method === 'PUT' && path.startsWith('/Appointment/');
const isFreeing = ({ method, body }: SeenRequest) => method === 'PUT' && body.includes('"status":"free"');

/** The gateway dies instead of sending this request. */
function dieAt({ server, http }: Pick<Awaited<ReturnType<typeof start>>, 'server' | 'http'>, isLast: typeof isFreeing) {
  server.misbehave = (request) => {
    if (!isLast(request)) return undefined;
    http.cut();
    return 'cut_before';
  };
}

function endClaim({ store }: FakeServer, slot: FhirSlot): void {
  const owner = claimOf(slot)?.owner ?? '';
  store.save(claimedSlot(slot, 'busy', { owner, until: new Date(Date.now() - 60_000) }));
}

const isOffered = async (connector: Connector, slot: TimeSlot) =>
  (await freeSlots(connector, 4)).some((it) => it.start.getTime() === slot.start.getTime());

describe('a first call', () => {
  test('writes each slot of a booking, a move and a cancellation once', async () => {
    const { server, other, from, to, slotAt } = await start();
    const writes = () => server.seen.splice(0).filter(({ method }) => method !== 'GET');
    writes();
    const [made] = await write(other, [creation(from)]);
    expect(writes()).toHaveLength(2);
    expect(slotAt(from).status).toBe('busy');
    const appointmentId = made?.id ?? '';
    await write(other, [{ kind: 'update', appointmentId, time: { start: to.start, end: to.end } }]);
    expect(writes()).toHaveLength(3);
    expect([slotAt(from), slotAt(to)].map(({ status }) => status)).toEqual(['free', 'busy']);
    await write(other, [{ kind: 'cancel', appointmentId }]);
    expect(writes()).toHaveLength(2);
    expect(slotAt(to).status).toBe('free');
  });

  test('names the appointment on its slot if its create got no response', async () => {
    const { server, other, from, slotAt } = await start();
    let creates = 0;
    server.misbehave = ({ method, path }) =>
      method === 'POST' && path === '/Appointment' && ++creates === 1 ? 'cut_before' : undefined;
    const [made] = await write(other, [creation(from)]);
    expect(claimOf(slotAt(from))).toEqual({ owner: `Appointment/${made?.id}`, until: null });
  });
});

describe('a repeated call', () => {
  test('takes over the busy slot of a first call that died', async () => {
    const it = await start();
    const operationId = randomUUID();
    dieAt(it, ({ method, path }) => method === 'POST' && path === '/Appointment');
    await write(it.dying, [creation(it.from)], operationId, true).catch(() => undefined);
    it.server.misbehave = () => undefined;
    expect(it.slotAt(it.from).status).toBe('busy');
    expect(await write(it.other, [creation(it.from)], operationId)).toMatchObject([{ state: 'booked' }]);
    expect(it.server.store.all('Appointment')).toHaveLength(1);
  });
});

describe('while a move is in progress', () => {
  async function moving() {
    const it = await start();
    const [made] = await write(it.dying, [creation(it.from)]);
    const time = { start: it.to.start, end: it.to.end };
    const move = () => write(it.dying, [{ kind: 'update', appointmentId: made?.id ?? '', time }]);
    return { ...it, move };
  }

  test('nobody else gets its new slot', async () => {
    const it = await moving();
    let isTried = false;
    const { promise: heldBackUntil, resolve: proceed } = Promise.withResolvers<void>();
    const { promise: isClaimed, resolve: claims } = Promise.withResolvers<void>();
    it.server.misbehave = (request) => {
      if (!isAppointmentPut(request) || isTried) return undefined;
      isTried = true;
      claims();
      return { heldBackUntil };
    };
    const moved = it.move();
    await isClaimed;
    expect(it.slotAt(it.to).status).toBe('busy');
    expect(await isOffered(it.other, it.to)).toBe(false);
    await expect(write(it.other, [creation(it.to)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    proceed();
    expect(await moved).toMatchObject([{ start: it.to.start }]);
  });

  test('a gateway that dies before the appointment loses its new slot when the claim has ended', async () => {
    const it = await moving();
    dieAt(it, isAppointmentPut);
    await it.move().catch(() => undefined);
    it.server.misbehave = () => undefined;
    expect(await isOffered(it.other, it.to)).toBe(false);
    endClaim(it.server, it.slotAt(it.to));
    expect(await isOffered(it.other, it.to)).toBe(true);
    expect(it.slotAt(it.to).status).toBe('free');
    expect(await isOffered(it.other, it.from)).toBe(false);
  });

  test('a gateway that dies after the appointment leaves its former slot to the next listing', async () => {
    const it = await moving();
    dieAt(it, isFreeing);
    await it.move().catch(() => undefined);
    it.server.misbehave = () => undefined;
    expect(it.slotAt(it.from).status).toBe('busy');
    expect(await isOffered(it.other, it.from)).toBe(true);
    expect(it.slotAt(it.from).status).toBe('free');
    expect(await isOffered(it.other, it.to)).toBe(false);
  });
});

test('an expired hold keeps its slot while it is being confirmed', async () => {
  const it = await start();
  const [held] = await write(it.dying, [creation(it.from, new Date(Date.now() + 600_000))]);
  expireHold(it.server, held?.id ?? '');
  dieAt(it, isAppointmentPut);
  await write(it.dying, [{ kind: 'confirm', appointmentId: held?.id ?? '' }]).catch(() => undefined);
  it.server.misbehave = () => undefined;
  expect(it.slotAt(it.from).status).toBe('busy');
  expect(await isOffered(it.other, it.from)).toBe(false);
  endClaim(it.server, it.slotAt(it.from));
  expect(await isOffered(it.other, it.from)).toBe(true);
});

test('a slot without a claim of ours is claimed before its appointment is cancelled', async () => {
  const it = await start();
  const [made] = await write(it.dying, [creation(it.from)]);
  const { extension: _, ...byStaff } = it.slotAt(it.from);
  it.server.store.save(byStaff);
  dieAt(it, isFreeing);
  await write(it.dying, [{ kind: 'cancel', appointmentId: made?.id ?? '' }]).catch(() => undefined);
  it.server.misbehave = () => undefined;
  expect(it.slotAt(it.from).status).toBe('busy-tentative');
  expect(claimOf(it.slotAt(it.from))?.owner).toBe(`Appointment/${made?.id}`);
});
