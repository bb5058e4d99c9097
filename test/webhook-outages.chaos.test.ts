import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bookingOf, changeOf } from './processes/child-client.ts';
import { startKillableGateway } from './processes/killable-gateway.ts';
import { eventually } from './requests/codes.ts';
import type { Event, EventPage } from './requests/events.ts';
import { type Delivery, status, verify } from './requests/webhook-receiver.ts';

const minute = 60;
/** Seconds. The first pauses of the retry schedule are longer. */
const step = 5;

/** The attempt that is due next for each appointment: later events of the appointment wait for it. */
const heads = `
  SELECT DISTINCT ON (subject) * FROM webhook_deliveries WHERE state = 'pending' ORDER BY subject, event_position`;
const inProgress = 'attempts > 0 AND failure_reason IS NULL';

test('every event arrives in order while the receiver is down for a minute, slow, failing or too late, and the gateway is killed', async () => {
  // The time-out and the retries are those of the product.
  const { client, receiver, endpoint, kill, restart, query } = await startKillableGateway();

  let passed = 0;
  /** Moves the times of the deliveries, as if so many seconds had passed. A running gateway keeps its attempts. */
  async function pass(seconds: number, which = `NOT (${inProgress})`): Promise<void> {
    passed += seconds;
    await query(
      `UPDATE webhook_deliveries SET next_attempt_at = next_attempt_at - make_interval(secs => $1)
       WHERE state = 'pending' AND ${which}`,
      [seconds],
    );
  }
  /** Waits until every event has its delivery and no attempt is due or in progress. Returns the seconds to the next one. */
  const idle = () =>
    eventually(async () => {
      const [{ busy, pause } = { busy: 1, pause: null }] = await query<{ busy: number; pause: number | null }>(
        `SELECT (SELECT count(*) FROM events WHERE position IS NULL)::int
           + count(*) FILTER (WHERE next_attempt_at <= now() OR ${inProgress})::int AS busy,
           extract(epoch FROM min(next_attempt_at) - now())::float8 AS pause FROM (${heads}) AS head`,
      );
      expect(busy).toBe(0);
      return pause;
    });

  const slots = await client.freeSlots(7);
  const ids: string[] = [];
  const lastSlot = slots.at(-1);
  if (!lastSlot) throw new Error('No free time slot');
  const change = (id: string, comment: string) => client.write(changeOf(id, `${id} ${comment}`, { comment }));

  await receiver.goDown();
  for (const slot of slots.slice(0, -1)) ids.push((await client.write(bookingOf(slot, slot.start))).id);
  for (let second = 0; second < minute; second += step) {
    await idle();
    if (second === minute / 2) await Promise.all(ids.map((id) => change(id, 'during the outage')));
    await pass(step);
  }
  await idle();
  const failing = await query<Delivery>(`SELECT * FROM (${heads}) AS head`);
  expect(failing).toHaveLength(ids.length);
  for (const { attempts } of failing) expect(attempts).toBeGreaterThanOrEqual(3);

  const [failingOne, late, slow, silent] = ids;
  const stored: Event[] = [];
  let isKilled = false;
  let held = 0;
  receiver.behave(async (response, event) => {
    const attempt = stored.filter(({ id }) => id === event.id).length;
    stored.push(event);
    const { appointment_id: about } = event.data;
    if (about === failingOne && attempt < 2) return status(500)(response);
    // Responds after the time-out of the gateway.
    if (about === late && attempt === 0 && event.type === 'appointment.booked') await once(response, 'close');
    if (about === slow) await sleep(500);
    if (about === silent && event.type === 'appointment.cancelled' && !isKilled) {
      held++;
      await once(response, 'close');
    }
    return status(204)(response);
  });
  await receiver.comeBack();
  for (const id of ids) {
    await change(id, 'after the outage');
    await client.write(changeOf(id, `cancel ${id}`, { status: 'cancelled' }));
  }
  while (held === 0) {
    await pass(step);
    await sleep(20);
  }
  // Killed with an attempt in progress, and before the newest event has a delivery.
  ids.push((await client.write(bookingOf(lastSlot, 'just before the kill'))).id);
  await kill();
  isKilled = true;
  await pass(minute, 'true');
  await restart();
  for (let pause = await idle(); pause !== null; pause = await idle()) await pass(pause + 1);

  const { events } = (await client.send<EventPage>({ method: 'GET', path: '/api/events?limit=500' })).body;
  expect(events).toHaveLength(4 * (ids.length - 1) + 1);
  const types = ['booked', 'updated', 'updated', 'cancelled'].map((type) => `appointment.${type}`);
  const hasArrived = Map.groupBy(stored, ({ data }) => data.appointment_id);
  for (const [about, wanted] of Map.groupBy(events, ({ data }) => data.appointment_id)) {
    expect(wanted.map(({ type }) => type)).toEqual(types.slice(0, about === ids.at(-1) ? 1 : 4));
    // A repetition comes before the next event.
    const arrived = hasArrived.get(about)?.filter(({ id }, place, all) => all[place - 1]?.id !== id);
    expect(arrived).toEqual(wanted);
  }
  for (const request of receiver.received) {
    expect(verify(request, endpoint.secret)).toEqual(request.event);
    expect(request.headers['webhook-id']).toBe(request.event.id);
  }
  const repeated = (about: string | undefined) => (hasArrived.get(about) ?? []).length;
  // Twice, since the response to the first came too late.
  expect(repeated(late)).toBe(types.length + 1);
  expect(repeated(failingOne)).toBe(types.length * 3);
  expect(repeated(silent)).toBeGreaterThan(types.length);
  const path = `/api/webhook-endpoints/${endpoint.id}/deliveries?limit=500`;
  const { deliveries } = (await client.send<{ deliveries: Delivery[] }>({ method: 'GET', path })).body;
  expect(new Set(deliveries.map((it) => it.status))).toEqual(new Set(['delivered']));
  expect(passed).toBeLessThan(24 * 60 * minute);
});
