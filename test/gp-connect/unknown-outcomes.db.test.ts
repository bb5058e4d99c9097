import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startFake } from '../../connectors/gp-connect/fake/server.ts';
import { type FaultProxy, startFaultProxy } from '../ehrs/fault-proxy.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { finalResponse, nextCall, settledResponse } from '../gateway/recovery.ts';
import { type AppointmentResponse, backdateWrites, careUnitOf, eventually } from '../requests/codes.ts';
import { newKey } from '../requests/idempotency-keys.ts';
import { booking, isBooking, main, practiceEmr, startPracticeGateway } from './practice.ts';

/* GP Connect drops identifiers, so the gateway looks for a booking in the patient's list. */

const fake = await startFake({ days: 42 });
let proxy: FaultProxy;
let gateway: Gateway;
beforeAll(async () => {
  proxy = await startFaultProxy(new URL(fake.url).origin);
  gateway = await startPracticeGateway(practiceEmr(fake, proxy));
});
afterEach(() => proxy.comeUp());
afterAll(async () => {
  await gateway.close();
  await proxy.close();
  await fake.close();
});

const unknown = { status: 504, body: { reason: 'outcome_unknown' } };
const posts = () => fake.seen.filter(({ method }) => method === 'POST').length;
const booked = () => fake.appointments.all().filter(({ content }) => content.status === 'booked').length;

test('a booking whose response is lost is found', async () => {
  const [send, posted, before] = [await booking(gateway, newKey()), posts(), booked()];
  fake.misbehave = (request) => (isBooking(request) ? 'cut_after' : undefined);
  const response = await finalResponse(send);
  fake.misbehave = () => undefined;
  expect(response.status, response.text).toBe(201);
  expect([posts() - posted, booked() - before]).toEqual([1, 1]);
});

test('a booking that the practice makes before it stays away is found by the retry', async () => {
  const [send, posted, before] = [await booking(gateway, newKey()), posts(), booked()];
  proxy.commitThenGoDown(isBooking);
  expect(await send()).toMatchObject(unknown);
  await nextCall(gateway, 'practice', 'unavailable');
  expect((await settledResponse(send)).status).toBe(504);
  await proxy.comeUp();
  const { status, body, text } = await finalResponse(send);
  expect(status, text).toBe(201);
  expect(await careUnitOf(gateway, main).get(body.id)).toMatchObject({ status: 'booked', comment: 'Hello' });
  expect([posts() - posted, booked() - before]).toEqual([1, 1]);
});

test('a booking that the practice makes late is found by the retry', async () => {
  const [send, posted, before] = [await booking(gateway, newKey()), posts(), booked()];
  const late = proxy.deliverLate(isBooking);
  expect(await send()).toMatchObject(unknown);
  expect(await settledResponse(send)).toMatchObject(unknown);
  await late.finish();
  expect((await finalResponse(send)).status).toBe(201);
  expect([posts() - posted, booked() - before]).toEqual([1, 1]);
});

test('a booking that staff cancel in between is not made again', async () => {
  const [send, posted] = [await booking(gateway, newKey()), posts()];
  proxy.commitThenGoDown(isBooking);
  expect(await send()).toMatchObject(unknown);
  const made = fake.appointments.all().at(-1);
  fake.appointments.edit(made?.id ?? '', { status: 'cancelled' });
  await proxy.comeUp();
  await eventually(async () => {
    await backdateWrites(gateway);
    expect(await send()).toMatchObject({ ...unknown, body: { retryable: false } });
  });
  expect(posts() - posted).toBe(1);
});

test('a booking that never arrived is not sent again', async () => {
  const [send, before] = [await booking(gateway, newKey()), booked()];
  proxy.deliverLate(isBooking);
  expect(await send()).toMatchObject(unknown);
  await eventually(async () => {
    await backdateWrites(gateway);
    expect(await send()).toMatchObject({ ...unknown, body: { retryable: false } });
  });
  expect(booked()).toBe(before);
});

test('a cancellation whose response is lost is found', async () => {
  const { body } = await (await booking(gateway, newKey()))();
  proxy.commitThenGoDown(({ method }) => method === 'PUT');
  const headers = { 'idempotency-key': newKey() };
  const cancel = (): Promise<AppointmentResponse> =>
    gateway.request('PATCH', `${main}/appointments/${body.id}`, {
      body: { status: 'cancelled', comment: 'Ill' },
      headers,
    });
  expect(await cancel()).toMatchObject(unknown);
  await proxy.comeUp();
  const response = await finalResponse(cancel);
  expect(response).toMatchObject({ status: 200, body: { status: 'cancelled', comment: 'Ill' } });
  expect(fake.seen.filter(({ method, path }) => method === 'PUT' && path.endsWith(`/${body.id}`))).toHaveLength(1);
});
