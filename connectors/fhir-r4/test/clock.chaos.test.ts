import { runConformance } from '@crossward/connector-kit/conformance';
import { describe, expect, test } from 'vitest';
import type { FhirAppointment } from '../src/fhir.ts';
import { createClock } from '../src/server/clock.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { expireHold } from './expire-hold.ts';
import { startFake } from './fake.ts';
import { fhirSubject, north, openConnector, settingsFor } from './subject.ts';

const second = 1000;
const minute = 60 * second;

function response(date: number, headers: Readonly<Record<string, string>> = {}, status = 200) {
  return { status, headers: { date: new Date(date).toUTCString(), ...headers } };
}

describe('the estimated clock of an EHR', () => {
  const ours = Date.parse('2026-03-20T12:00:00.400Z');
  const ahead = ({ toEhr }: ReturnType<typeof createClock>) => toEhr(new Date(ours)).getTime() - ours;

  test("equals the gateway's clock while every response allows it", () => {
    const clock = createClock(() => new Date());
    expect(ahead(clock)).toBe(0);
    // `Date` has whole seconds and can be up to a second old.
    for (const milliseconds of [-1300, -400, 0, 300]) clock.observe(response(ours + milliseconds), ours - 5, ours + 5);
    expect(ahead(clock)).toBe(0);
  });

  test.each([-10 * minute, 10 * minute])('is accurate to a second when it differs by %d ms', (milliseconds) => {
    const clock = createClock(() => new Date());
    for (let at = ours; at < ours + 20 * second; at += 700) clock.observe(response(at + milliseconds), at - 5, at + 5);
    expect(Math.abs(ahead(clock) - milliseconds)).toBeLessThanOrEqual(second);
    const moment = new Date('2026-03-20T12:30:00Z');
    expect(clock.fromEhr(clock.toEhr(moment))).toEqual(moment);
  });

  test('is corrected after the EHR has set its clock', () => {
    const clock = createClock(() => new Date());
    clock.observe(response(ours + 10 * minute), ours, ours);
    clock.observe(response(ours), ours, ours);
    expect(ahead(clock)).toBe(0);
  });

  test('ignores responses of caches and proxies', () => {
    const clock = createClock(() => new Date());
    clock.observe(response(ours - 10 * minute, { age: '600' }), ours, ours);
    clock.observe(response(ours - 10 * minute, {}, 503), ours, ours);
    clock.observe({ status: 200, headers: {} }, ours, ours);
    expect(ahead(clock)).toBe(0);
  });
});

describe.each([-10 * minute, 10 * minute])('holds in an EHR whose clock is %d ms ahead', (clockAheadMilliseconds) => {
  test.each(['atomic', 'none'] as const)('expire at the right moment, with transactions: %s', async (transactions) => {
    const server = await startFake({ transactions, clockAheadMilliseconds, data: { days: 14 } });
    const connector = await openConnector(settingsFor(server.url));
    const [slot, other] = await freeSlots(connector, 2);

    const holdUntil = new Date(Date.now() + 5 * minute);
    const [held] = await write(connector, [creation(slot, holdUntil)]);
    expect(held?.state).toBe('held');
    expect(Math.abs((held?.heldUntil?.getTime() ?? 0) - holdUntil.getTime())).toBeLessThanOrEqual(2 * second);
    const stored = server.store.get(`Appointment/${held?.id}`) as unknown as FhirAppointment;
    const until = stored.extension?.find(({ url }) => url === 'urn:crossward:held-until')?.valueInstant ?? '';
    const byGatewayClock = Date.parse(until) - clockAheadMilliseconds;
    expect(Math.abs(byGatewayClock - holdUntil.getTime())).toBeLessThanOrEqual(2 * second);
    await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });

    const [expired] = await write(connector, [creation(other, holdUntil)]);
    expireHold(server, expired?.id ?? '', clockAheadMilliseconds);
    expect(await connector.findAppointments?.(north, [expired?.id ?? ''])).toMatchObject([{ state: 'cancelled' }]);
    expect(await write(connector, [creation(other)])).toMatchObject([{ state: 'booked' }]);
  });
});

describe.each([-10 * minute, 10 * minute])(
  "holds while the machine's clock is %d ms ahead of the gateway's",
  (wrong) => {
    /** The gateway's clock. That of the machine is wrong, and the EHR's is right by the machine's. */
    const now = () => new Date(Date.now() - wrong);
    async function serverWith(transactions: 'atomic' | 'none') {
      const server = await startFake({ transactions, data: { days: 14 } });
      return server;
    }

    test.each(['atomic', 'none'] as const)('last as long as asked, with transactions: %s', async (transactions) => {
      const server = await serverWith(transactions);
      const connector = await openConnector(settingsFor(server.url), undefined, undefined, now);
      const [slot] = await freeSlots(connector, 1);
      const holdUntil = new Date(now().getTime() + 5 * minute);
      const [held] = await write(connector, [creation(slot, holdUntil)]);
      expect(held?.state).toBe('held');
      expect(Math.abs((held?.heldUntil?.getTime() ?? 0) - holdUntil.getTime())).toBeLessThanOrEqual(2 * second);
      const stored = server.store.get(`Appointment/${held?.id}`) as unknown as FhirAppointment;
      const until = stored.extension?.find(({ url }) => url === 'urn:crossward:held-until')?.valueInstant ?? '';
      const remaining = Date.parse(until) - Date.now();
      expect(Math.abs(remaining - 5 * minute)).toBeLessThan(minute);
    });

    test('pass the conformance kit', { timeout: 120_000 }, async () => {
      const server = await serverWith('atomic');
      const subject = await fhirSubject('fhir-r4', settingsFor(server.url), async () => undefined, {}, now);
      const { results } = await runConformance(subject, { only: ['holds'] });
      expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    });

    test("fail it if the connector takes the machine's clock for the gateway's", { timeout: 120_000 }, async () => {
      const server = await serverWith('atomic');
      const subject = await fhirSubject('fhir-r4', settingsFor(server.url), async () => undefined);
      expect((await runConformance({ ...subject, now }, { only: ['holds'] })).failed).toBeGreaterThan(0);
    });
  },
);
