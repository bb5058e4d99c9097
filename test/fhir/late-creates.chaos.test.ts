import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import type { FhirAppointment } from '../../connectors/fhir-r4/src/fhir.ts';
import { type FaultProxy, type ProxiedRequest, startFaultProxy } from '../ehrs/fault-proxy.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { finalResponse, nextCall } from '../gateway/recovery.ts';
import { freeSlot, isFree, type Slot } from '../requests/bookings.ts';
import { careUnitOf, eventually } from '../requests/codes.ts';
import { type AppointmentResponse, creation, keysOf, newKey, type Sent } from '../requests/idempotency-keys.ts';
import { directBookingsOn } from './direct-bookings.ts';

const path = careUnitPath('fhir', 'north');
const fake = await startFake({ transactions: 'none', heedsIfNoneExist: false, data: { days: 42 } });
let proxy: FaultProxy;
let gateway: Gateway;
beforeAll(async () => {
  proxy = await startFaultProxy(fake.url);
  gateway = await startGateway({ configure: directBookingsOn(proxy.url) });
});
afterEach(() => proxy.comeUp());
afterAll(async () => {
  await gateway.close();
  await proxy.close();
  await fake.close();
});

const send = (request: Sent, key?: string): Promise<AppointmentResponse> => keysOf(gateway).send(request, key);
const isCreate = ({ method, path: url }: ProxiedRequest) => method === 'POST' && url === '/Appointment';

/** The appointments in the FHIR server at a time, except withdrawn ones. */
function standing({ start, end }: Slot): { readonly id: string | undefined; readonly status: string | undefined }[] {
  return (fake.store.all('Appointment') as readonly FhirAppointment[])
    .filter((it) => new Date(it.start ?? '') < new Date(end) && new Date(it.end ?? '') > new Date(start))
    .filter(({ status }) => status !== 'entered-in-error')
    .map(({ id, status }) => ({ id, status }));
}

describe.each([
  ['with an idempotency key', newKey],
  ['without an idempotency key', () => undefined],
])('a server that ignores If-None-Exist and receives the first create late, for a request %s', (_, key) => {
  test('keeps only the appointment of the response', async () => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const late = proxy.deliverLate(isCreate);
    const { status, body, text } = await send(creation(slot, path), key());
    expect(status, text).toBe(201);
    await late.finish();
    expect(standing(slot)).toHaveLength(2);
    await eventually(() => expect(standing(slot)).toEqual([{ id: body.id, status: 'booked' }]));
    expect(await isFree(gateway, slot, path)).toBe(false);
  });

  test('keeps none if the appointment has been cancelled since', async () => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const late = proxy.deliverLate(isCreate);
    const { body } = await send(creation(slot, path), key());
    await careUnitOf(gateway, path).change(body.id, { status: 'cancelled' });
    await late.finish();
    await eventually(() => expect(standing(slot)).toEqual([{ id: body.id, status: 'cancelled' }]));
    expect(await isFree(gateway, slot, path)).toBe(true);
  });

  test('keeps one if it is unavailable before the gateway looks', async () => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const late = proxy.deliverLate(isCreate);
    const { body } = await send(creation(slot, path), key());
    await proxy.goDown();
    await late.finish();
    await nextCall(gateway, 'fhir', 'findOperation', 'unavailable');
    await proxy.comeUp();
    const booked = () => standing(slot).filter((it) => it.status === 'booked');
    expect(booked()).toHaveLength(2);
    await eventually(() => expect(booked()).toEqual([{ id: body.id, status: 'booked' }]));
  });
});

test('a create that arrives after the response to a retry leaves one appointment', async () => {
  const slot = await freeSlot(gateway, { careUnit: path });
  const key = newKey();
  const late = proxy.finishLate(isCreate);
  expect((await send(creation(slot, path), key)).body.reason).toBe('outcome_unknown');
  await nextCall(gateway, 'fhir', 'unavailable');
  await proxy.comeUp();
  const { status, body, text } = await finalResponse(() => send(creation(slot, path), key));
  expect(status, text).toBe(201);
  await late.finish();
  await eventually(() => expect(standing(slot)).toEqual([{ id: body.id, status: 'booked' }]));
  expect(await finalResponse(() => send(creation(slot, path), key))).toMatchObject({
    status: 201,
    body: { id: body.id },
  });
});
