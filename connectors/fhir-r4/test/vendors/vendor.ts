import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../../fake/server.ts';
import type { FhirAppointment } from '../../src/fhir.ts';
import { withHold } from '../../src/mappers/appointment.ts';
import type { FhirSettings } from '../../src/settings.ts';
import { creation, freeSlots, write } from '../bookings.ts';
import { startFake } from '../fake.ts';
import { north, openConnector, probeServer, settingsFor } from '../subject.ts';

type Booking = NonNullable<FhirSettings['booking']>;

/** A value of the setting `booking.operations`, with a server that has these operations. */
export interface Vendor {
  readonly operations: NonNullable<Booking['operations']>;
  readonly server?: FakeOptions;
  readonly settings?: Partial<FhirSettings>;
}

const minute = 60_000;
/** An EHR that manages its slots itself and rejects writes to them. */
const scheduler: FakeOptions = { transactions: 'none', plainWrites: false, checksAppointments: true };

export const inTenMinutes = () => new Date(Date.now() + 10 * minute);

/** Starts the vendor's server and opens a connector to it. */
export async function openVendor(vendor: Vendor, booking: Booking = {}, options: FakeOptions = {}) {
  const { operations, server: serverOptions = scheduler } = vendor;
  const server = await startFake({ data: { days: 14 }, ...serverOptions, operations, ...options });
  const settings = settingsFor(server.url, {
    ...vendor.settings,
    booking: { mode: 'operations', operations, ...booking },
  });
  return { server, settings, connector: await openConnector(settings) };
}

interface Promises {
  readonly changes: readonly string[];
  readonly changesWithHold: readonly string[];
  /** What the probe says of the operations, with `hold: true`. */
  readonly probed?: 'ok' | 'note' | 'warning';
}

/** Tests what each vendor's `$book` must do. */
export function describeBooking(vendor: Vendor, { changes, changesWithHold, probed }: Promises): void {
  const { operations } = vendor;

  describe(`$book of ${operations}`, () => {
    test.each([
      [{}, changes],
      [{ hold: true }, changesWithHold],
    ])('with %j claims the changes that work', async (booking, claimed) => {
      const { connector } = await openVendor(vendor, booking);
      expect(connector.capabilities.changes).toEqual(claimed);
    });

    test('is found if it gets no response', async () => {
      const { server, connector } = await openVendor(vendor);
      const [slot] = await freeSlots(connector, 1);
      server.misbehave = ({ path }) => (path.endsWith('$book') ? 'cut_after' : undefined);
      expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked', patientId: 'p-1' }]);
      expect(server.store.all('Appointment').filter(({ status }) => status === 'booked')).toHaveLength(1);
    });

    test.each([
      [400, 'rejected'],
      [403, 'rejected'],
      [501, 'unsupported'],
    ] as const)(
      'that is rejected with %i while its time is free is not reported as unavailable',
      async (status, kind) => {
        const { server, connector } = await openVendor(vendor);
        const [slot] = await freeSlots(connector, 1);
        server.misbehave = ({ path }) => (path.endsWith('$book') ? { status } : undefined);
        await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind });
      },
    );

    test('is reported by the probe as experimental', async () => {
      const { settings } = await openVendor(vendor, { hold: true });
      const { findings } = await probeServer(settings);
      expect(findings.find(({ name }) => name === 'experimental')).toMatchObject({
        status: 'warning',
        detail: expect.stringContaining('no real server'),
      });
      if (probed) expect(findings.find(({ name }) => name === 'operations')?.status).toBe(probed);
    });
  });
}

/** Tests what each vendor's `$hold` must do. */
export function describeHold(vendor: Vendor): void {
  describe(`$hold of ${vendor.operations}`, () => {
    test('keeps its patient, resource and comment, and is confirmed under the same id', async () => {
      const { connector } = await openVendor(vendor, { hold: true });
      const [slot] = await freeSlots(connector, 1);
      const [held] = await write(connector, [creation(slot, inTenMinutes())]);
      expect(held).toMatchObject({ state: 'held', patientId: 'p-1', resourceId: 'r-1', comment: 'as written' });
      expect(await connector.findAppointments?.(north, [held?.id ?? ''])).toEqual([held]);
      const [booked] = await write(connector, [{ kind: 'confirm', appointmentId: held?.id ?? '' }]);
      expect(booked).toEqual({ ...held, state: 'booked', heldUntil: null });
    });

    test('that has expired does not block its time, and the next booking cancels it', async () => {
      const { server, connector } = await openVendor(vendor, { hold: true });
      const [slot, next] = await freeSlots(connector, 2);
      const [held] = await write(connector, [creation(slot, inTenMinutes())]);
      const appointment = server.store.get(`Appointment/${held?.id}`) as unknown as FhirAppointment;
      server.store.save(withHold(appointment, new Date(Date.now() - minute)));
      expect(await connector.findAppointments?.(north, [held?.id ?? ''])).toMatchObject([{ state: 'cancelled' }]);
      // The server still holds it, because reading changes nothing.
      expect(server.store.get(`Appointment/${held?.id}`).status).toBe('pending');
      expect(await freeSlots(connector, 2)).toEqual([slot, next]);
      expect(server.store.get(`Appointment/${held?.id}`).status).toBe('pending');
      expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
      expect(server.store.get(`Appointment/${held?.id}`).status).toBe('cancelled');
      expect((await freeSlots(connector, 1))[0]).toEqual(next);
    });
  });
}
