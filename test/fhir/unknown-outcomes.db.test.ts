import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, expect, test } from 'vitest';
import { type Fault, startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { settingsFor } from '../../connectors/fhir-r4/test/subject.ts';
import type { Configuration } from '../../server/src/config/configuration.ts';
import { resolveConnection } from '../../server/src/config/schema/connection.ts';
import { resolvePolicies } from '../../server/src/config/schema/policies.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { startGateway } from '../gateway/gateway.ts';
import { creationBody, freeSlot } from '../requests/bookings.ts';
import { type AppointmentResponse, backdateWrites, careUnitOf, eventually } from '../requests/codes.ts';
import { northCareUnit } from './north.ts';

/** Books like Oracle Health: one Appointment per slot, without the gateway's identifier. */
const fake = await startFake({
  transactions: 'none',
  plainWrites: false,
  checksAppointments: true,
  oneSlot: true,
  patchOnly: true,
  emptyBodies: true,
  data: { days: 42 },
});
const gateway = await startGateway({ configure: withFake });
afterAll(async () => {
  await gateway.close();
  await fake.close();
});
const direct = careUnitPath('fhir', 'north');

function withFake(demo: Configuration): Configuration {
  const policies = resolvePolicies();
  const careUnit = northCareUnit(policies);
  const emr = {
    id: 'fhir',
    name: 'FHIR',
    connector: 'fhir-r4',
    settings: settingsFor(fake.url, { booking: { mode: 'create', minimal_create: true } }),
    synthetic_identifiers: true,
    connection: resolveConnection({ allow_private_addresses: true }),
    policies,
    care_units: [{ ...careUnit, settings: { location: 'Location/north' } }],
  };
  const grants = [{ emr: emr.id, care_units: [careUnit.id] }];
  return { ...demo, emrs: [emr], clients: demo.clients.map((client) => ({ ...client, grants })) };
}

let creations = 0;
/** Makes the next creation of an Appointment fail. */
function failOnce(fault: Fault): void {
  let isDone = false;
  creations = 0;
  fake.misbehave = ({ method, path }) => {
    if (method !== 'POST' || !path.endsWith('/Appointment')) return undefined;
    creations += 1;
    if (isDone) return undefined;
    isDone = true;
    return fault;
  };
}
afterEach(() => {
  fake.misbehave = () => undefined;
});

const booked = () => fake.store.all('Appointment').filter(({ status }) => status === 'booked').length;

test('a booking made after the time-out is found, and is not repeated', async () => {
  const slot = await freeSlot(gateway, { careUnit: direct });
  const before = booked();
  const headers = { 'idempotency-key': randomUUID() };
  const send = (): Promise<AppointmentResponse> =>
    gateway.request('POST', `${direct}/appointments`, { body: creationBody(slot), headers });
  const looked = Promise.withResolvers<void>();
  failOnce({ heldBackUntil: looked.promise, isCut: true });
  expect(await send()).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
  looked.resolve();
  const response = await eventually(async () => {
    const again = await send();
    expect(again.status).toBe(201);
    return again;
  });
  expect(response.body).toMatchObject({ status: 'booked', start: slot.start });
  expect(await careUnitOf(gateway, direct).get(response.body.id)).toEqual(response.body);
  expect(booked()).toBe(before + 1);
  expect(creations).toBe(1);
});

test('a booking that never reached the server is not retried with its key', async () => {
  const slot = await freeSlot(gateway, { careUnit: direct });
  const before = booked();
  const headers = { 'idempotency-key': randomUUID() };
  const send = (): Promise<AppointmentResponse> =>
    gateway.request('POST', `${direct}/appointments`, { body: creationBody(slot), headers });
  failOnce('cut_before');
  expect(await send()).toMatchObject({ status: 504, body: { reason: 'outcome_unknown', retryable: true } });
  await eventually(async () => {
    await backdateWrites(gateway);
    expect(await send()).toMatchObject({ status: 504, body: { reason: 'outcome_unknown', retryable: false } });
  });
  expect(booked()).toBe(before);
  expect(creations).toBe(1);
});

/** The creation is made and answered without a body. The requests that follow get the fault. */
function failReadsAfterwards(fault: Fault): void {
  let isMade = false;
  creations = 0;
  fake.misbehave = ({ method, path }) => {
    if (method === 'POST' && path.endsWith('/Appointment')) {
      creations += 1;
      isMade = true;
      return undefined;
    }
    return isMade ? fault : undefined;
  };
}

test.each<[string, Fault]>([
  ['503', { status: 503 }],
  ['500', { status: 500 }],
  ['the end of the session', { status: 401 }],
  ['an answer that is no resource', { status: 200, body: {} }],
  ['another record', { status: 200, body: { resourceType: 'Appointment', id: 'another', status: 'booked' } }],
  ['a cut connection', 'cut_before'],
])('a booking that is answered, and read with %s, is found', async (_, fault) => {
  const slot = await freeSlot(gateway, { careUnit: direct });
  const before = booked();
  const send = (headers = {}): Promise<AppointmentResponse> =>
    gateway.request('POST', `${direct}/appointments`, { body: creationBody(slot), headers });
  const headers = { 'idempotency-key': randomUUID() };
  failReadsAfterwards(fault);
  expect(await send(headers)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown', retryable: true } });
  fake.misbehave = () => undefined;
  const response = await eventually(async () => {
    const again = await send(headers);
    expect(again.status).toBe(201);
    return again;
  });
  expect(response.body).toMatchObject({ status: 'booked', start: slot.start });
  expect([booked() - before, creations]).toEqual([1, 1]);
  const another = await send();
  expect(another).toMatchObject({ status: 400, body: { reason: 'time_slot_unavailable' } });
});
