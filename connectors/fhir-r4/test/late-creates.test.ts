import { randomUUID } from 'node:crypto';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { describe, expect, test } from 'vitest';
import type { Fault } from '../fake/server.ts';
import type { FhirResource, FhirSlot } from '../src/fhir.ts';
import { claimOf } from '../src/mappers/slot.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

/** A server that ignores `If-None-Exist` and delays the first create until `executeDelayed` is called. */
async function start() {
  const server = await startFake({ transactions: 'none', heedsIfNoneExist: false, data: { days: 14 } });
  const settings = settingsFor(server.url);
  const http = plainHttp();
  const [first, second] = [await openConnector(settings, http), await openConnector(settings)];
  const { promise: heldBackUntil, resolve: executeDelayed } = Promise.withResolvers<void>();
  const { promise: isDelayed, resolve: delays } = Promise.withResolvers<void>();
  let creates = 0;
  server.misbehave = ({ method, path }): Fault | undefined => {
    if (method !== 'POST' || path !== '/Appointment' || ++creates > 1) return undefined;
    delays();
    return { heldBackUntil };
  };
  const living = () => server.store.all('Appointment').filter(({ status }) => status !== 'entered-in-error');
  return { server, http, first, second, isDelayed, executeDelayed, living };
}

describe.each([
  ['booking', null, 'booked', 'busy'],
  ['hold', 600_000, 'held', 'busy-tentative'],
] as const)('a %s whose create is executed after another call', (_, heldFor, state, slotStatus) => {
  const until = () => heldFor && new Date(Date.now() + heldFor);

  test('leaves one appointment while its own call is still running', async () => {
    const { server, first, second, isDelayed, executeDelayed, living } = await start();
    const [slot] = await freeSlots(first, 1);
    const operationId = randomUUID();
    const changes = [creation(slot, until())];

    const late = write(first, changes, operationId);
    await isDelayed;
    const [kept] = await write(second, changes, operationId);
    expect(kept?.state).toBe(state);
    executeDelayed();
    expect(await late).toEqual([kept]);

    expect(living().map(({ id }) => id)).toEqual([kept?.id]);
    const [taken, another] = server.store.all('Slot').filter(({ status }) => status !== 'free');
    expect(another).toBeUndefined();
    expect(taken?.status).toBe(slotStatus);
    expect(claimOf(taken as unknown as FhirSlot)?.owner).toBe(`Appointment/${kept?.id}`);
    await expect(write(first, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  });

  test.each([true, false])('leaves one appointment after its gateway was killed, as first call %s', async (isFirst) => {
    const { http, first, second, isDelayed, executeDelayed, living } = await start();
    const [slot] = await freeSlots(first, 1);
    const operationId = randomUUID();
    const changes = [creation(slot, until())];

    const late = write(first, changes, operationId, isFirst).catch(() => undefined);
    await isDelayed;
    http.cut();
    await late;
    const [kept] = await write(second, changes, operationId);
    executeDelayed();
    await expect.poll(() => living().length).toBe(2);

    expect(await second.findOperation?.(north, operationId)).toEqual([kept]);
    expect(living().map(({ id }) => id)).toEqual([kept?.id]);
    await expect(write(second, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  });
});

test('one write with appointments on different slots keeps all of them', async () => {
  const { server, second, living } = await start();
  server.misbehave = () => undefined;
  const operationId = randomUUID();
  const [slot, other] = await freeSlots(second, 2);
  const [made] = await write(second, [creation(slot)], operationId);
  const [another] = await write(second, [creation(other)]);
  const { id: _, ...copy } = server.store.get(`Appointment/${made?.id}`);
  const elsewhere = server.store.get(`Appointment/${another?.id}`);
  const { slot: slots, start: from, end } = elsewhere;
  server.store.save({ ...copy, slot: slots, start: from, end } as FhirResource);
  expect(await second.findOperation?.(north, operationId)).toHaveLength(2);
  expect(living()).toHaveLength(3);
});

test('a late create that is executed before another call creates its own is kept', async () => {
  const { server, http, first, second, isDelayed, executeDelayed, living } = await start();
  const [slot] = await freeSlots(first, 1);
  const operationId = randomUUID();
  const changes = [creation(slot)];
  const late = write(first, changes, operationId).catch(() => undefined);
  await isDelayed;
  http.cut();
  await late;
  // The delayed create is executed while the other call claims the slot.
  const usual = server.misbehave;
  server.misbehave = (request) => {
    if (request.method === 'PUT' && request.path.startsWith('/Slot/')) executeDelayed();
    return usual(request);
  };
  const [kept] = await write(second, changes, operationId);
  expect(living().map(({ id }) => id)).toEqual([kept?.id]);
  expect(await second.findOperation?.(north, operationId)).toEqual([kept]);
});
