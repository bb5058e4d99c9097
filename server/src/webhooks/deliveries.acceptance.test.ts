/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, bergen, book, bookSome, oslo } from '../../../test/requests/bookings.ts';
import { careUnitOf, eventually, rowsOf } from '../../../test/requests/codes.ts';
import { type Event, eventsAbout } from '../../../test/requests/events.ts';
import {
  type Delivery,
  type Endpoint,
  type Receiver,
  startReceiver,
  status,
  verify,
  webhooksOf,
  withQuickWebhooks,
} from '../../../test/requests/webhook-receiver.ts';
import { resealEndpoints } from './reseal-endpoints.ts';

const gateway = await startGateway({ configure: withQuickWebhooks, intervals: { events: 100 } });
afterAll(() => gateway.close());
const webhooks = webhooksOf(gateway);

/** A receiver with an endpoint of its own. */
async function receiver(eventTypes?: readonly string[]): Promise<Receiver & { readonly endpoint: Endpoint }> {
  const started = await startReceiver();
  const endpoint = await webhooks.create(started.url, eventTypes);
  onTestFinished(async () => {
    await webhooks.call('DELETE', `/${endpoint.id}`);
    await started.close();
  });
  return { ...started, endpoint };
}

/** Books appointments, and changes and cancels each. Returns the number of events. */
async function writeEvents(count: number): Promise<number> {
  const booked = await bookSome(gateway, count);
  const { change, cancel } = careUnitOf(gateway, oslo);
  await Promise.all(
    booked.map(async ({ id }) => {
      await change(id, { comment: 'changed' });
      await cancel(id);
    }),
  );
  return 3 * count;
}

const order = ['appointment.booked', 'appointment.updated', 'appointment.cancelled'];

/** Every appointment has all its events, each after the earlier one. */
function expectInOrder(events: readonly Event[]): void {
  const byAppointment = Map.groupBy(events, ({ data }) => data.appointment_id);
  for (const about of byAppointment.values()) expect(about.map(({ type }) => type)).toEqual(order);
}

describe('every event arrives, signed and in order per appointment, while the receiver', () => {
  test('works', async () => {
    const it = await receiver();
    const count = await writeEvents(3);
    await webhooks.ended(it.endpoint.id, count);
    expect(it.accepted()).toHaveLength(count);
    expectInOrder(it.accepted());
    for (const request of it.received) {
      expect(verify(request, it.endpoint.secret)).toEqual(request.event);
      expect(request.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': request.event.id });
      expect(request.headers['user-agent']).toMatch(/^Crossward\//);
    }
  });

  test('is down for a while', async () => {
    const it = await receiver();
    await it.goDown();
    const count = await writeEvents(3);
    await eventually(async () => {
      const deliveries = await webhooks.deliveries(it.endpoint.id);
      expect(deliveries.filter(({ reason }) => reason === 'connection_refused').length).toBeGreaterThanOrEqual(3);
    });
    await it.comeBack();
    await webhooks.ended(it.endpoint.id, count);
    expect(it.accepted()).toHaveLength(count);
    expectInOrder(it.accepted());
    const lines = gateway.logLines.filter((line) => line.includes(it.endpoint.id)).map((line) => JSON.parse(line));
    const attempts = lines.filter(({ msg }) => msg === 'webhook not delivered, will retry');
    expect(attempts.length).toBeGreaterThanOrEqual(3);
    expect(new Set(attempts.map(({ level }) => level))).toEqual(new Set([30]));
    // One for the outage. Others follow after a minute.
    const [warning, ...later] = lines.filter(({ level }) => level > 30);
    const failing = { level: 40, reason: 'connection_refused', msg: 'attempts to deliver webhooks fail' };
    expect(warning).toMatchObject({ ...failing, failed_attempts: 1 });
    expect(later.filter(({ msg }) => msg !== failing.msg)).toEqual([]);
  });

  test('responds with 500 every second time, and closes connections', async () => {
    const it = await receiver();
    let requests = 0;
    it.behave((response) => {
      requests++;
      if (requests % 3 === 0) response.destroy();
      else status(requests % 3 === 1 ? 500 : 200)(response);
    });
    const count = await writeEvents(3);
    const ended = await webhooks.ended(it.endpoint.id, count);
    expect(ended.map((delivery) => delivery.status)).toEqual(Array.from({ length: count }, () => 'delivered'));
    expectInOrder(it.accepted());
  });

  test('stores an event and closes the connection: the event arrives again, with the same id', async () => {
    const it = await receiver(['appointment.booked']);
    const stored: Event[] = [];
    it.behave((response, event) => {
      stored.push(event);
      if (stored.length === 1) response.destroy();
      else status(200)(response);
    });
    await book(gateway);
    await webhooks.ended(it.endpoint.id, 1);
    expect(stored).toHaveLength(2);
    expect(stored[1]).toEqual(stored[0]);
  });

  test('is slow: others are not delayed, and later events of the appointment wait', async () => {
    const [slow, quick] = [await receiver(), await receiver()];
    const release = Promise.withResolvers<void>();
    slow.behave(async (response) => {
      await release.promise;
      status(200)(response);
    });
    const count = await writeEvents(2);
    await webhooks.ended(quick.endpoint.id, count);
    expect(slow.received).toEqual([]);
    release.resolve();
    await webhooks.ended(slow.endpoint.id, count);
    expectInOrder(slow.accepted());
  });
});

test('an endpoint gets the event types that it wants, from care units that its client is granted', async () => {
  const mine = webhooksOf(gateway, 'narrowed');
  const it = await startReceiver();
  onTestFinished(() => it.close());
  const { id } = await mine.create(it.url, ['appointment.cancelled']);
  const [here, there] = [await book(gateway), await book(gateway, { careUnit: bergen, resourceId: 'r-6' })];
  await careUnitOf(gateway, bergen).cancel(there.id);
  await careUnitOf(gateway, oslo).cancel(here.id);
  await mine.ended(id, 1);
  expect(it.accepted().map(({ type, data }) => [type, data.appointment_id])).toEqual([
    ['appointment.cancelled', here.id],
  ]);
  expect((await webhooks.call('GET', `/${id}`)).status).toBe(404);
  await mine.call('DELETE', `/${id}`);
});

describe('a delivery fails', () => {
  test('after the last retry, and later events of the appointment follow', async () => {
    const impatient = await startGateway({
      configure: (it) => ({
        ...withQuickWebhooks(it),
        webhooks: { ...withQuickWebhooks(it).webhooks, retry_seconds: [0, 0] },
      }),
    });
    const it = await startReceiver();
    onTestFinished(async () => {
      await impatient.close();
      await it.close();
    });
    const endpoints = webhooksOf(impatient);
    const { id } = await endpoints.create(it.url);
    it.behave((response, event) => status(event.type === 'appointment.booked' ? 503 : 200)(response));
    const booked = await book(impatient);
    await careUnitOf(impatient, oslo).cancel(booked.id);
    const [cancelled, given] = await endpoints.ended(id, 2);
    expect(given).toMatchObject({ status: 'failed', attempts: 3, response_status: 503, reason: 'status' });
    expect(cancelled).toMatchObject({ status: 'delivered', attempts: 1, response_status: 200, reason: null });
    expect(it.received.map(({ event }) => event.type)).toEqual([
      ...Array.from({ length: 3 }, () => 'appointment.booked'),
      'appointment.cancelled',
    ]);
    expect((await endpoints.deliveries(id, '?status=failed')).map((delivery) => delivery.id)).toEqual([given?.id]);
  });

  test('by a redirect, which is not followed', async () => {
    const [it, elsewhere] = [await receiver(['appointment.booked']), await startReceiver()];
    onTestFinished(() => elsewhere.close());
    let redirected = 0;
    it.behave((response) => {
      redirected++;
      if (redirected === 1) response.writeHead(307, { location: elsewhere.url }).end();
      else status(200)(response);
    });
    await book(gateway);
    await webhooks.ended(it.endpoint.id, 1);
    expect(elsewhere.received).toEqual([]);
    expect(it.received.map((request) => request.status)).toEqual([307, 200]);
  });

  test('with 410, and its endpoint is disabled until the client enables it', async () => {
    const it = await receiver(['appointment.booked']);
    it.behave(status(410));
    await book(gateway);
    const [delivery] = await webhooks.ended(it.endpoint.id, 1);
    expect(delivery).toMatchObject({ status: 'failed', attempts: 1, response_status: 410, reason: 'status' });
    const { body } = await webhooks.call<Endpoint>('GET', `/${it.endpoint.id}`);
    expect(body).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
    for (const action of ['test', `deliveries/${delivery?.id}/redeliver`]) {
      const rejected = await webhooks.call<Problem>('POST', `/${it.endpoint.id}/${action}`);
      expect(rejected).toMatchObject({ status: 409, body: { reason: 'webhook_endpoint_disabled' } });
    }
    // Published while the endpoint is disabled.
    await eventsAbout(gateway, (await book(gateway)).id, 1);
    it.behave(status(200));
    await webhooks.call('PATCH', `/${it.endpoint.id}`, { status: 'enabled' });
    const later = await book(gateway);
    await eventually(() => expect(it.accepted().map(({ data }) => data.appointment_id)).toEqual([later.id]));
  });

  test('and the event can be redelivered', async () => {
    const it = await receiver(['appointment.booked']);
    await book(gateway);
    const [delivery] = await webhooks.ended(it.endpoint.id, 1);
    const path = `/${it.endpoint.id}/deliveries/${delivery?.id}/redeliver`;
    const again = await webhooks.call<Delivery>('POST', path);
    expect(again).toMatchObject({ status: 202, body: { event_id: delivery?.event_id, attempts: 0 } });
    await webhooks.ended(it.endpoint.id, 2);
    expect(it.received.map(({ event }) => event.id)).toEqual([delivery?.event_id, delivery?.event_id]);
    expect((await webhooks.call<Problem>('POST', path.replace(String(delivery?.id), randomUUID()))).body.reason).toBe(
      'webhook_delivery_not_found',
    );
  });
});

test('a response of any size is cut off, and its body is stored nowhere', async () => {
  const it = await receiver(['appointment.booked']);
  const text = 'kanari-response-body ';
  it.behave((response) => {
    response.writeHead(200);
    const write = () => {
      while (!response.destroyed && response.write(text.repeat(1000)));
      if (!response.destroyed) response.once('drain', write);
    };
    write();
  });
  await book(gateway);
  expect(await webhooks.ended(it.endpoint.id, 1)).toMatchObject([{ status: 'delivered', response_status: 200 }]);
  expect(gateway.logLines.join('\n')).not.toContain('kanari-response-body');
  const rows = await rowsOf(gateway, 'SELECT delivery::text FROM webhook_deliveries AS delivery');
  expect(JSON.stringify(rows)).not.toContain('kanari-response-body');
});

test('a test event arrives at its endpoint alone', async () => {
  const [it, other] = [await receiver(), await receiver()];
  const { status: code, body } = await webhooks.call<{ event_id: string }>('POST', `/${it.endpoint.id}/test`);
  expect(code).toBe(202);
  await webhooks.ended(it.endpoint.id, 1);
  expect(it.accepted()).toMatchObject([{ id: body.event_id, type: 'webhook.test', data: {} }]);
  expect(other.received).toEqual([]);
});

test('each previous secret signs until its own end, or none after a rotation without an overlap', async () => {
  const it = await receiver(['appointment.booked']);
  const rotate = async (overlap_seconds: number) =>
    (await webhooks.call<Endpoint>('POST', `/${it.endpoint.id}/secret`, { overlap_seconds })).body;
  const next = await rotate(3600);
  expect(next.previous_secret_expires_at).not.toBeNull();
  await book(gateway);
  await webhooks.ended(it.endpoint.id, 1);
  const [first] = it.received;
  if (!first) throw new Error('Nothing was delivered');
  for (const secret of [it.endpoint.secret, next.secret]) expect(verify(first, secret)).toEqual(first.event);
  const shorter = await rotate(60);
  expect(shorter.previous_secret_expires_at).toBe(next.previous_secret_expires_at);
  await book(gateway);
  await webhooks.ended(it.endpoint.id, 2);
  const [, between] = it.received;
  if (!between) throw new Error('Nothing was delivered');
  for (const secret of [it.endpoint.secret, next.secret, shorter.secret])
    expect(verify(between, secret)).toEqual(between.event);
  const last = await rotate(0);
  expect(last.previous_secret_expires_at).toBeNull();
  await book(gateway);
  await webhooks.ended(it.endpoint.id, 3);
  const second = it.received[2];
  if (!second) throw new Error('Nothing was delivered');
  expect(verify(second, last.secret)).toEqual(second.event);
  for (const { secret } of [it.endpoint, next, shorter]) expect(() => verify(second, secret)).toThrow();
});

test('a replay delivers the events since a time again, in order', async () => {
  const booked: Appointment[] = await bookSome(gateway, 3);
  await careUnitOf(gateway, oslo).cancel(booked[0]?.id ?? '');
  const [{ since } = { since: '' }] = await eventually(async () => {
    const rows = await rowsOf<{ since: string; count: number }>(
      gateway,
      `SELECT min(occurred_at)::text AS since, count(position)::int AS count FROM events WHERE subject = ANY($1)`,
      [booked.map(({ id }) => id)],
    );
    expect(rows[0]?.count).toBe(4);
    return rows;
  });
  const it = await receiver(['appointment.booked', 'appointment.cancelled']);
  const from = new Date(since).toISOString();
  const started = await webhooks.call<Endpoint>('POST', `/${it.endpoint.id}/replay`, { from });
  expect(started).toMatchObject({ status: 202, body: { replaying: true } });
  await webhooks.ended(it.endpoint.id, 4);
  const mine = it.accepted().filter(({ data }) => data.appointment_id === booked[0]?.id);
  expect(mine.map(({ type }) => type)).toEqual(['appointment.booked', 'appointment.cancelled']);
  expect(new Set(it.accepted().map(({ data }) => data.appointment_id))).toEqual(new Set(booked.map(({ id }) => id)));
  expect((await webhooks.call<Endpoint>('GET', `/${it.endpoint.id}`)).body.replaying).toBe(false);
});

test('a replay ends with the last event of an appointment, also if that is being delivered when it starts', async () => {
  const it = await receiver();
  const from = new Date(Date.now() - 1_000).toISOString();
  const released = Promise.withResolvers<void>();
  const isAccepted = Promise.withResolvers<void>();
  let booked: Appointment | undefined;
  it.behave(async (response, event) => {
    const isMine = event.data.appointment_id === booked?.id;
    if (isMine && event.type === 'appointment.cancelled') {
      await released.promise;
      response.on('close', () => isAccepted.resolve());
    }
    const isRepeated = it.received.some((earlier) => earlier.event.id === event.id);
    if (isMine && isRepeated && event.type === 'appointment.booked') await isAccepted.promise;
    status(204)(response);
  });
  booked = await book(gateway);
  const { change, cancel } = careUnitOf(gateway, oslo);
  await change(booked.id, { comment: 'changed' });
  await cancel(booked.id);
  const mine = () => it.received.filter(({ event }) => event.data.appointment_id === booked.id);
  await eventually(() => expect(mine()).toHaveLength(2));
  await eventually(async () => {
    const [last] = await webhooks.deliveries(it.endpoint.id);
    expect(last).toMatchObject({ event_type: 'appointment.cancelled', attempts: 1 });
  });
  await webhooks.call('POST', `/${it.endpoint.id}/replay`, { from });
  await eventually(async () => {
    expect((await webhooks.call<Endpoint>('GET', `/${it.endpoint.id}`)).body.replaying).toBe(false);
  });
  released.resolve();
  await webhooks.ended(it.endpoint.id, 5);
  const types = mine().map(({ event }) => event.type);
  expect(types).toEqual([...order, ...order]);
});

test('an endpoint has four replays within an hour', async () => {
  const it = await receiver(['appointment.booked']);
  const from = new Date(Date.now() + 60_000).toISOString();
  const replay = () => webhooks.call<Problem>('POST', `/${it.endpoint.id}/replay`, { from });
  const setStarts = (times: string) =>
    rowsOf(gateway, `UPDATE webhook_endpoints SET replays_started_at = ${times} WHERE id = $1`, [it.endpoint.id]);
  await setStarts('array_fill(now(), ARRAY[4])');
  const limited = await replay();
  expect(limited).toMatchObject({ status: 429, body: { reason: 'rate_limited' } });
  expect(Number(limited.headers['retry-after'])).toBeGreaterThan(3000);
  await setStarts(`array_fill(now() - interval '1 hour', ARRAY[4])`);
  expect((await replay()).status).toBe(202);
});

test('during a replay, a new event waits for the earlier ones of its appointment', async () => {
  const it = await receiver(['appointment.booked', 'appointment.cancelled']);
  const booked = await book(gateway);
  await webhooks.ended(it.endpoint.id, 1);
  // As if the deliveries of the replay were not created yet.
  await rowsOf(
    gateway,
    'UPDATE webhook_endpoints SET replay_after = (SELECT max(position) FROM events), replay_until = NULL WHERE id = $1',
    [it.endpoint.id],
  );
  await careUnitOf(gateway, oslo).cancel(booked.id);
  await eventually(async () => {
    const due = 'SELECT FROM webhook_deliveries WHERE endpoint_id = $1 AND attempts = 0 AND next_attempt_at < now()';
    expect(await rowsOf(gateway, due, [it.endpoint.id])).toHaveLength(1);
  });
  const other = await receiver(['appointment.booked']);
  await book(gateway);
  await webhooks.ended(other.endpoint.id, 1);
  expect(it.accepted()).toHaveLength(1);
  await rowsOf(
    gateway,
    `UPDATE webhook_endpoints SET replay_until = (SELECT max(position) FROM events), replay_after = (
       SELECT position - 1 FROM events WHERE subject = $2 ORDER BY position LIMIT 1) WHERE id = $1`,
    [it.endpoint.id, booked.id],
  );
  await eventually(() => {
    const mine = it.received.filter(({ event }) => event.data.appointment_id === booked.id);
    expect(mine.map(({ event }) => event.type.slice('appointment.'.length))).toEqual(['booked', 'booked', 'cancelled']);
  });
});

test('an endpoint whose secret key is lost does not stop the deliveries to others', async () => {
  const [lost, it] = [await receiver(['appointment.booked']), await receiver(['appointment.booked'])];
  await rowsOf(gateway, `UPDATE webhook_endpoints SET sealed_secret = decode(repeat('00', 64), 'hex') WHERE id = $1`, [
    lost.endpoint.id,
  ]);
  await book(gateway);
  await webhooks.ended(it.endpoint.id, 1);
  expect(lost.received).toEqual([]);
  expect((await webhooks.call('GET', '')).status).toBe(200);
  expect((await webhooks.call<Problem>('GET', `/${lost.endpoint.id}`)).body.reason).toBe('webhook_endpoint_not_found');
  const { db, keys } = gateway.deps.services;
  expect(await resealEndpoints(db, keys, 100)).toEqual([lost.endpoint.id]);
});
