import { type PlainHttp, plainHttp } from '@crossward/connector-kit/conformance';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { FakeServer } from '../fake/server.ts';
import type { FhirAppointment } from '../src/fhir.ts';
import { withHold as withHoldUntil } from '../src/mappers/appointment.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { north, openConnector } from './subject.ts';
import { inTenMinutes, openVendor } from './vendors/vendor.ts';

afterEach(() => {
  vi.useRealTimers();
});

const minute = 60_000;
/** IHE's operations stand for those of all vendors. */
const open = openVendor.bind(undefined, { operations: 'ihe' });

const withHold = { hold: true };

describe('a hold that the server ends too early', () => {
  const brief = { holdMilliseconds: 2 * minute };

  test.each(['Thu, 01 Jan 1970 00:00:00 GMT', '0', '-1'])(
    'is not detected from an `Expires` of %s',
    async (expires) => {
      const { settings } = await open(withHold);
      const { send, stream, cut } = plainHttp();
      const http: PlainHttp = {
        cut,
        stream,
        async send(request) {
          const response = await send(request);
          return { ...response, headers: { ...response.headers, expires } };
        },
      };
      const connector = await openConnector(settings, http);
      const [slot] = await freeSlots(connector, 1);
      expect(await write(connector, [creation(slot, inTenMinutes())])).toMatchObject([{ state: 'held' }]);
    },
  );

  test('is cancelled, and cannot be confirmed or extended', async () => {
    const { connector } = await open(withHold, brief);
    const [slot] = await freeSlots(connector, 1);
    const [held] = await write(connector, [creation(slot, inTenMinutes())]);
    const appointmentId = held?.id ?? '';
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * minute });
    expect(await connector.findAppointments?.(north, [appointmentId])).toMatchObject([{ state: 'cancelled' }]);
    expect(await freeSlots(connector, 1)).toEqual([slot]);
    const confirmed = write(connector, [{ kind: 'confirm', appointmentId }]);
    await expect(confirmed).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    const extended = write(connector, [{ kind: 'extend', appointmentId, holdUntil: inTenMinutes() }]);
    await expect(extended).rejects.toMatchObject({ kind: 'appointment_not_held' });
    expect(await write(connector, [{ kind: 'release', appointmentId }])).toMatchObject([{ state: 'cancelled' }]);
  });
});

describe('a hold that is interrupted', () => {
  test('is released if the patient cannot be written on it', async () => {
    const { server, connector } = await open(withHold);
    const [slot] = await freeSlots(connector, 1);
    let writes = 0;
    server.misbehave = ({ method }) => (method === 'PUT' && ++writes === 1 ? { status: 422 } : undefined);
    const held = write(connector, [creation(slot, inTenMinutes())]);
    await expect(held).rejects.toMatchObject({ kind: 'rejected' });
    expect(await freeSlots(connector, 1)).toEqual([slot]);
  });

  test('is unknown if it can be neither completed nor released', async () => {
    const { server, connector } = await open(withHold);
    const [slot] = await freeSlots(connector, 1);
    server.misbehave = ({ method }) => (method === 'PUT' ? { status: 429 } : undefined);
    const held = write(connector, [creation(slot, inTenMinutes())]);
    await expect(held).rejects.toMatchObject({ kind: 'outcome_unknown' });
  });

  test('is unknown if `$hold` gets no response', async () => {
    const { server, connector } = await open(withHold);
    const [slot] = await freeSlots(connector, 1);
    server.misbehave = ({ path }) => (path.endsWith('$hold') ? 'cut_after' : undefined);
    const held = write(connector, [creation(slot, inTenMinutes())]);
    await expect(held).rejects.toMatchObject({ kind: 'outcome_unknown' });
  });
});

describe('a booking with `$book`', () => {
  test('is sent to `operations_url`', async () => {
    const { server: elsewhere } = await open();
    const { server, settings } = await open();
    const booking = { ...settings.booking, operations_url: elsewhere.url };
    const connector = await openConnector({ ...settings, booking });
    const [slot] = await freeSlots(connector, 1);
    expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
    const hasBooked = (it: FakeServer) => it.seen.some(({ path }) => path.endsWith('$book'));
    expect([hasBooked(elsewhere), hasBooked(server)]).toEqual([true, false]);
  });
});

test('an expired hold at another time is not cancelled by a booking', async () => {
  const { server, connector } = await open(withHold);
  const [first, , later] = await freeSlots(connector, 3);
  const [held] = await write(connector, [creation(first, inTenMinutes())]);
  const appointment = server.store.get(`Appointment/${held?.id}`) as unknown as FhirAppointment;
  server.store.save(withHoldUntil(appointment, new Date(Date.now() - minute)));
  await write(connector, [creation(later)]);
  expect(server.store.get(`Appointment/${held?.id}`).status).toBe(appointment.status);
  expect(await write(connector, [{ kind: 'confirm', appointmentId: held?.id ?? '' }])).toMatchObject([
    { state: 'booked' },
  ]);
});
