import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import type { FhirAppointment, FhirResource } from '../../connectors/fhir-r4/src/fhir.ts';
import { type FaultProxy, type ProxiedRequest, startFaultProxy } from '../ehrs/fault-proxy.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { finalResponse, nextCall } from '../gateway/recovery.ts';
import { book, consecutiveSlots, freeSlot, isFree, type Slot, at as timeOf } from '../requests/bookings.ts';
import { careUnitOf, eventually, rowsOf } from '../requests/codes.ts';
import { expectEvents } from '../requests/events.ts';
import { type AppointmentResponse, change, keysOf, newKey, type Sent } from '../requests/idempotency-keys.ts';
import { directBookingsOn } from './direct-bookings.ts';

const path = careUnitPath('fhir', 'north');
const fake = await startFake({ transactions: 'none', data: { days: 42 } });
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
const inEhr = (id: string) => fake.store.get(`Appointment/${id}`) as unknown as FhirAppointment;
const atTheDesk = (id: string, changed: object) => void fake.store.save({ ...inEhr(id), ...changed } as FhirResource);
const isAppointmentChange = ({ method, path: url }: ProxiedRequest) =>
  method === 'PUT' && url.startsWith('/Appointment/');

test.each(['arrived', 'checked-in', 'fulfilled'])('a visit that is %s cannot be moved or cancelled', async (status) => {
  const [slot, other] = (await consecutiveSlots(gateway, 2, { careUnit: path })) as [Slot, Slot];
  const { id } = await book(gateway, { careUnit: path, slot });
  atTheDesk(id, { status });
  const careUnit = careUnitOf(gateway, path);
  for (const content of [timeOf(other), { status: 'cancelled' }]) {
    expect(await careUnit.change(id, content)).toMatchObject({
      status: 409,
      body: { reason: 'appointment_started' },
    });
  }
  expect(inEhr(id).status).toBe(status);
});

test('an appointment that staff delete is reported as cancelled, and stays so', async () => {
  const { id } = await book(gateway, { careUnit: path });
  fake.store.remove(`Appointment/${id}`);
  const readNow = `
    UPDATE ehr_change_feeds SET next_read_at = now() WHERE cursor IS NOT NULL AND lease_token IS NULL RETURNING emr`;
  await eventually(async () => expect(await rowsOf(gateway, readNow)).toHaveLength(1));
  await expectEvents(gateway, id, ['booked', 'cancelled']);
  const response = await gateway.request('GET', `${path}/appointments/${id}`);
  expect(response).toMatchObject({ status: 200, body: { id, status: 'cancelled' } });
});

test.each(['pending', 'proposed', 'waitlist'])(
  'an appointment that staff set to %s can be cancelled',
  async (status) => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const { id } = await book(gateway, { careUnit: path, slot });
    atTheDesk(id, { status });
    const careUnit = careUnitOf(gateway, path);
    expect(await careUnit.get(id)).toMatchObject({ status: 'awaiting_confirmation', confirmation: null });
    const cancelled = await careUnit.change(id, { status: 'cancelled' });
    expect(cancelled).toMatchObject({ status: 200, body: { id, status: 'cancelled' } });
    expect(inEhr(id).status).toBe('cancelled');
    expect(await isFree(gateway, slot, path)).toBe(true);
  },
);

describe.each([
  ['performs the write', () => proxy.commitThenGoDown(isAppointmentChange)],
  ['performs the write later', () => proxy.finishLate(isAppointmentChange)],
] as const)(
  'a cancellation for one of several patients, with a server that %s and is unavailable during the retry',
  (_, lose) => {
    test('keeps the appointment for the others', async () => {
      const slot = await freeSlot(gateway, { careUnit: path });
      const { id } = await book(gateway, { careUnit: path, slot });
      const second = { actor: { reference: 'Patient/p-2' }, status: 'accepted' };
      atTheDesk(id, { participant: [...(inEhr(id).participant ?? []), second] });
      const key = newKey();
      const request = change(`${id}_p-2`, { status: 'cancelled' }, path);
      const late = lose();
      expect((await send(request, key)).body.reason).toBe('outcome_unknown');
      await nextCall(gateway, 'fhir', 'unavailable');
      await late?.finish();
      await proxy.comeUp();
      const response = await finalResponse(() => send(request, key));
      expect(response).toMatchObject({ status: 200, body: { id: `${id}_p-2`, status: 'cancelled' } });
      const careUnit = careUnitOf(gateway, path);
      expect(await careUnit.get(id)).toMatchObject({ id, status: 'booked' });
      expect(await careUnit.get(`${id}_p-2`)).toMatchObject({ status: 'cancelled', patient_id: 'emr_id:p-2' });
      expect(inEhr(id).status).toBe('booked');
      expect(await isFree(gateway, slot, path)).toBe(false);
    });
  },
);
