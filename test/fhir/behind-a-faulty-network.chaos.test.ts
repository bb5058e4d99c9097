import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import type { FhirAppointment } from '../../connectors/fhir-r4/src/fhir.ts';
import { settingsFor } from '../../connectors/fhir-r4/test/subject.ts';
import type { Configuration } from '../../server/src/config/configuration.ts';
import { resolveConnection } from '../../server/src/config/schema/connection.ts';
import { resolvePolicies } from '../../server/src/config/schema/policies.ts';
import { type FaultProxy, type ProxiedRequest, startFaultProxy } from '../ehrs/fault-proxy.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { finalResponse, nextCall, settledResponse, withQuickRecovery } from '../gateway/recovery.ts';
import { book, consecutiveSlots, freeSlot, isFree, type Slot, at as timeOf } from '../requests/bookings.ts';
import { careUnitOf, codeFor, eventually, messagesAbout } from '../requests/codes.ts';
import { type AppointmentResponse, change, creation, keysOf, newKey, type Sent } from '../requests/idempotency-keys.ts';
import { northCareUnit } from './north.ts';

const path = careUnitPath('fhir', 'north');
const fake = await startFake({ data: { days: 42 } });
let proxy: FaultProxy;
let gateway: Gateway;
beforeAll(async () => {
  proxy = await startFaultProxy(fake.url);
  gateway = await startGateway({ configure: withProxy });
});
afterEach(() => proxy.comeUp());
afterAll(async () => {
  await gateway.close();
  await proxy.close();
  await fake.close();
});

/** Care unit `north` requires a code for bookings. */
function withProxy(demo: Configuration): Configuration {
  const policies = resolvePolicies({ booking_confirmation: 'code' });
  const careUnit = northCareUnit(policies);
  const emr = {
    id: 'fhir',
    name: 'FHIR',
    connector: 'fhir-r4',
    settings: settingsFor(proxy.url),
    synthetic_identifiers: true,
    connection: resolveConnection({ allow_private_addresses: true }),
    policies,
    care_units: [{ ...careUnit, settings: { location: 'Location/north' } }],
  };
  const grants = [{ emr: emr.id, care_units: [careUnit.id] }];
  return withQuickRecovery(
    {
      ...demo,
      emrs: [emr],
      clients: demo.clients.map((client) => ({ ...client, grants })),
    },
    { settling_seconds: 10 },
  );
}

const send = (request: Sent, key?: string): Promise<AppointmentResponse> => keysOf(gateway).send(request, key);
const isWrite = ({ method, body }: ProxiedRequest) =>
  method !== 'GET' && body.includes('"Appointment"') && body.includes('"transaction"');

/** The appointments in the FHIR server at a time, except cancelled ones. */
function appointmentsAt({
  start,
  end,
}: Slot): { readonly id: string | undefined; readonly status: string | undefined }[] {
  return (fake.store.all('Appointment') as readonly FhirAppointment[])
    .filter((it) => new Date(it.start ?? '') < new Date(end) && new Date(it.end ?? '') > new Date(start))
    .filter(({ status }) => status !== 'cancelled' && status !== 'entered-in-error')
    .map(({ id, status }) => ({ id, status }));
}

function expectUnknown({ status, body }: AppointmentResponse): void {
  expect({ status, reason: body.reason }).toEqual({ status: 504, reason: 'outcome_unknown' });
}

/** Ways to lose the response to a write that the server makes. The server is unavailable afterwards. */
const losses = [
  ['makes a write, loses its response', () => proxy.commitThenGoDown(isWrite)],
  ['makes a write after the time-out', () => proxy.finishLate(isWrite)],
] as const;

describe.each(losses)('a server that %s and is unavailable', (_, lose) => {
  /** Returns the response to a retry with the same idempotency key. */
  async function loseAndRetry(request: Sent, key: string | undefined): Promise<AppointmentResponse> {
    const late = lose();
    expectUnknown(await send(request, key));
    await nextCall(gateway, 'fhir', 'unavailable');
    const meanwhile = await settledResponse(() => send(request, key));
    await late?.finish();
    await proxy.comeUp();
    return meanwhile;
  }

  test('creates one hold, which a retry with the same key returns', async () => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const key = newKey();
    const request = creation(slot, path);
    const meanwhile = await loseAndRetry(request, key);
    const response = await settledResponse(() => send(request, key));
    expect(response.status, response.text).toBe(201);
    const { id, status } = response.body;
    expect(status).toBe('awaiting_confirmation');
    expect(appointmentsAt(slot)).toEqual([{ id, status: 'pending' }]);
    const code = await codeFor(gateway, id);
    expect(await careUnitOf(gateway, path).confirm(id, code)).toMatchObject({
      status: 200,
      body: { status: 'booked' },
    });
    expect(await messagesAbout(gateway, id)).toHaveLength(1);
    expect(appointmentsAt(slot)).toEqual([{ id, status: 'booked' }]);
    expectUnknown(meanwhile);
  });

  test('releases a hold if the request is not retried', async () => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const late = lose();
    expectUnknown(await send(creation(slot, path)));
    await nextCall(gateway, 'fhir', 'unavailable');
    await late?.finish();
    expect(appointmentsAt(slot)).toHaveLength(1);
    await proxy.comeUp();
    await eventually(() => expect(appointmentsAt(slot)).toEqual([]));
    expect(await isFree(gateway, slot, path)).toBe(true);
  });

  test('confirms with a code once', async () => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const { id } = await book(gateway, { careUnit: path, slot });
    const request = change(id, { confirmation: { code: await codeFor(gateway, id) } }, path);
    const key = newKey();
    const meanwhile = await loseAndRetry(request, key);
    expect(await settledResponse(() => send(request, key))).toMatchObject({
      status: 200,
      body: { id, status: 'booked' },
    });
    expect(appointmentsAt(slot)).toEqual([{ id, status: 'booked' }]);
    expectUnknown(meanwhile);
  });

  test('moves an appointment once', async () => {
    const [from, to] = (await consecutiveSlots(gateway, 2, { careUnit: path })) as [Slot, Slot];
    const { id } = await book(gateway, { careUnit: path, slot: from });
    await careUnitOf(gateway, path).confirm(id, await codeFor(gateway, id));
    const request = change(id, timeOf(to), path);
    const key = newKey();
    const meanwhile = await loseAndRetry(request, key);
    expect(await settledResponse(() => send(request, key))).toMatchObject({ status: 200, body: { id, ...timeOf(to) } });
    expect(appointmentsAt(to)).toEqual([{ id, status: 'booked' }]);
    expect(appointmentsAt(from)).toEqual([]);
    expectUnknown(meanwhile);
  });
});

test('a hold that is created after a look-up is returned to a retry', async () => {
  const slot = await freeSlot(gateway, { careUnit: path });
  const key = newKey();
  const late = proxy.finishLate(isWrite);
  expectUnknown(await send(creation(slot, path), key));
  const lookedUp = nextCall(gateway, 'fhir', 'findOperation', 'ok');
  await proxy.comeUp();
  await lookedUp;
  await proxy.goDown();
  await late.finish();
  await proxy.comeUp();
  const response = await finalResponse(() => send(creation(slot, path), key));
  expect(response.status, response.text).toBe(201);
  const { id } = response.body;
  await eventually(() => expect(appointmentsAt(slot)).toEqual([{ id, status: 'pending' }]));
  expect(await messagesAbout(gateway, id)).toHaveLength(1);
});

test('a retry makes a booking that never reached the server, once', async () => {
  const slot = await freeSlot(gateway, { careUnit: path });
  const key = newKey();
  await proxy.goDown();
  const { status, body } = await send(creation(slot, path), key);
  expect({ status, reason: body.reason }).toEqual({ status: 503, reason: 'ehr_unavailable' });
  await proxy.comeUp();
  const response = await finalResponse(() => send(creation(slot, path), key));
  expect(response.status, response.text).toBe(201);
  expect(appointmentsAt(slot)).toHaveLength(1);
});
