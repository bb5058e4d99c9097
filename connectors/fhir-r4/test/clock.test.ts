import { afterEach, describe, expect, test } from 'vitest';
import { type FakeServer, startFake } from '../fake/server.ts';
import { createClock } from '../src/clock.ts';
import type { FhirAppointment } from '../src/fhir.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { runOut } from './run-out.ts';
import { north, openConnector, settingsFor } from './subject.ts';

const second = 1000;
const minute = 60 * second;

function answer(date: number, headers: Readonly<Record<string, string>> = {}, status = 200) {
  return { status, headers: { date: new Date(date).toUTCString(), ...headers } };
}

describe('the clock of an EHR', () => {
  const ours = Date.parse('2026-03-20T12:00:00.400Z');
  const ahead = ({ toEhr }: ReturnType<typeof createClock>) => toEhr(new Date(ours)).getTime() - ours;

  test('is in step until an answer rules it out', () => {
    const clock = createClock();
    expect(ahead(clock)).toBe(0);
    // In whole seconds, and up to a second old.
    for (const milliseconds of [-1300, -400, 0, 300]) clock.observe(answer(ours + milliseconds), ours - 5, ours + 5);
    expect(ahead(clock)).toBe(0);
  });

  test.each([-10 * minute, 10 * minute])('is seen to differ by %d ms, to a second', (milliseconds) => {
    const clock = createClock();
    for (let at = ours; at < ours + 20 * second; at += 700) clock.observe(answer(at + milliseconds), at - 5, at + 5);
    expect(Math.abs(ahead(clock) - milliseconds)).toBeLessThanOrEqual(second);
    const moment = new Date('2026-03-20T12:30:00Z');
    expect(clock.fromEhr(clock.toEhr(moment))).toEqual(moment);
  });

  test('is believed anew when it has been set', () => {
    const clock = createClock();
    clock.observe(answer(ours + 10 * minute), ours, ours);
    clock.observe(answer(ours), ours, ours);
    expect(ahead(clock)).toBe(0);
  });

  test('is not that of a cache or a proxy', () => {
    const clock = createClock();
    clock.observe(answer(ours - 10 * minute, { age: '600' }), ours, ours);
    clock.observe(answer(ours - 10 * minute, {}, 503), ours, ours);
    clock.observe({ status: 200, headers: {} }, ours, ours);
    expect(ahead(clock)).toBe(0);
  });
});

describe.each([-10 * minute, 10 * minute])('holds of an EHR whose clock is off by %d ms', (clockAheadMilliseconds) => {
  const servers: FakeServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  test.each(['atomic', 'none'] as const)('last as long as they shall, with transactions: %s', async (transactions) => {
    const server = await startFake({ transactions, clockAheadMilliseconds, data: { days: 14 } });
    servers.push(server);
    const connector = await openConnector(settingsFor(server.url));
    const [slot, other] = await freeSlots(connector, 2);

    const holdUntil = new Date(Date.now() + 5 * minute);
    const [held] = await write(connector, [creation(slot as never, holdUntil)]);
    expect(held?.state).toBe('held');
    expect(Math.abs((held?.heldUntil?.getTime() ?? 0) - holdUntil.getTime())).toBeLessThanOrEqual(2 * second);
    const stored = server.store.get(`Appointment/${held?.id}`) as unknown as FhirAppointment;
    const until = stored.extension?.find(({ url }) => url === 'urn:crossward:held-until')?.valueInstant ?? '';
    const byItsClock = Date.parse(until) - clockAheadMilliseconds;
    expect(Math.abs(byItsClock - holdUntil.getTime())).toBeLessThanOrEqual(2 * second);
    await expect(write(connector, [creation(slot as never)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });

    const [expired] = await write(connector, [creation(other as never, holdUntil)]);
    runOut(server, expired?.id ?? '', clockAheadMilliseconds);
    expect(await connector.findAppointments?.(north, [expired?.id ?? ''])).toMatchObject([{ state: 'cancelled' }]);
    expect(await write(connector, [creation(other as never)])).toMatchObject([{ state: 'booked' }]);
  });
});
