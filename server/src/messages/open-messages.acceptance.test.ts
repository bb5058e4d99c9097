/** @module-tag any-database */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book, sodermalm } from '../../../test/requests/bookings.ts';
import { careUnitOf, confirmationOf, eventually, rowsOf } from '../../../test/requests/codes.ts';
import { Secret } from '../config/environment/secret.ts';
import { sendAgain } from './failed.ts';
import { groupOpen, listOpen } from './open-messages.ts';

/** The provider's response to every message. */
let status = 200;
const provider = createServer((request, response) => {
  request.resume();
  response.writeHead(status).end();
});
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
const { port } = provider.address() as AddressInfo;
const gateway = await startGateway({
  intervals: { messages: 200 },
  configure: (demo) => ({
    ...demo,
    messages: {
      ...demo.messages,
      sms: { provider: 'webhook', url: `http://127.0.0.1:${port}/sms`, secret: new Secret('a secret of the tests') },
    },
  }),
});
afterAll(async () => {
  await gateway.close();
  provider.close();
});
beforeEach(async () => {
  // Messages of other tests are not sent any more.
  await rowsOf(gateway, 'DELETE FROM messages');
});

const { db } = gateway.deps.services;
const sweden = careUnitOf(gateway, sodermalm);
const appointmentIds = async () => (await listOpen(db)).map(({ appointmentId }) => appointmentId);

async function metric(name: string): Promise<number | undefined> {
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  const [, value] = new RegExp(`^crossward_messages_${name}\\{channel="sms"\\} (\\S+)$`, 'm').exec(text) ?? [];
  return value === undefined ? undefined : Number(value);
}

async function delivered(state: string) {
  const held = await book(gateway, { careUnit: sodermalm });
  await eventually(async () => expect(confirmationOf(await sweden.get(held.id)).delivery).toBe(state));
  return held;
}

test('a message that was sent is counted, and not listed', async () => {
  status = 200;
  const [queued = 0, sent = 0] = [await metric('queued_total'), await metric('sent_total')];
  const held = await delivered('sent');
  expect(await metric('queued_total')).toBe(queued + 1);
  expect(await metric('sent_total')).toBe(sent + 1);
  expect([await metric('waiting'), await metric('oldest_waiting_seconds')]).toEqual([0, 0]);
  expect(await appointmentIds()).not.toContain(held.id);
});

test('a message that is being retried is listed with its attempts and the time of the next one', async () => {
  status = 503;
  const held = await book(gateway, { careUnit: sodermalm });
  const message = await eventually(async () => {
    const [found] = await listOpen(db);
    expect(found?.attempts).toBeGreaterThanOrEqual(2);
    return found;
  });
  expect(message).toEqual({
    id: expect.any(String),
    kind: 'booking',
    emr: 'sandbox-se',
    careUnitId: 'sodermalm',
    channel: 'sms',
    appointmentId: held.id,
    state: 'retrying',
    since: expect.any(Date),
    canBeSentAgain: false,
    attempts: expect.any(Number),
    nextAttemptAt: expect.any(Date),
    ageSeconds: expect.any(Number),
    failureReason: 'http_503',
    expiresAt: expect.any(Date),
  });
  await rowsOf(gateway, "UPDATE messages SET created_at = created_at - interval '100 seconds'");
  expect(await metric('waiting')).toBe(1);
  expect(await metric('oldest_waiting_seconds')).toBeGreaterThanOrEqual(100);
  expect((await listOpen(db))[0]?.ageSeconds).toBeGreaterThanOrEqual(100);
});

test('a message that failed permanently is logged as an error, counted, and listed for a day', async () => {
  status = 400;
  const failed = (await metric('failed_total')) ?? 0;
  const held = await delivered('failed');
  const [message] = await listOpen(db);
  expect(message).toMatchObject({ appointmentId: held.id, state: 'failed', attempts: 1, canBeSentAgain: true });
  expect(await groupOpen(db)).toMatchObject([
    { channel: 'sms', state: 'failed', failureReason: 'http_400', sendable: 1 },
  ]);
  expect(await metric('failed_total')).toBe(failed + 1);
  expect(await metric('waiting')).toBe(0);
  const line = gateway.logLines.map((text) => JSON.parse(text)).find((it) => it.message_id === message?.id);
  expect(line).toMatchObject({ level: 50, msg: 'message failed', reason: 'http_400' });
  await sweden.cancel(held.id);
  expect(await listOpen(db)).toMatchObject([{ id: message?.id, state: 'failed', canBeSentAgain: false }]);
  expect(await groupOpen(db)).toMatchObject([{ count: 1, sendable: 0 }]);
  await rowsOf(gateway, "UPDATE messages SET completed_at = completed_at - interval '25 hours'");
  expect(await listOpen(db)).toEqual([]);
});

test('a message that is sent again has no attempt yet, is not late, and is due', async () => {
  status = 503;
  const held = await book(gateway, { careUnit: sodermalm });
  await eventually(async () => expect(await listOpen(db)).toMatchObject([{ failureReason: 'http_503' }]));
  await rowsOf(gateway, 'UPDATE messages SET delayed_at = now()');
  status = 400;
  await rowsOf(gateway, 'UPDATE messages SET next_attempt_at = now()');
  await eventually(async () => expect(confirmationOf(await sweden.get(held.id)).delivery).toBe('failed'));
  const [failed] = await listOpen(db);
  expect(failed?.attempts).toBeGreaterThan(1);
  // No gateway sees it before the transaction ends.
  await db.transaction().execute(async (tx) => {
    await sendAgain(tx, failed?.id ?? '');
    const [message] = await listOpen(tx);
    expect(message).toMatchObject({ state: 'waiting', attempts: 0, failureReason: null });
    expect(message?.nextAttemptAt?.getTime()).toBeLessThanOrEqual(Date.now());
    expect(await groupOpen(tx)).toMatchObject([{ state: 'waiting', failureReason: null, count: 1 }]);
  });
});

test('metrics do not wait for a database that does not respond, and show no stale values', async () => {
  expect(await metric('waiting')).toBe(0);
  const { background: pool } = gateway.database;
  const connect = pool.connect.bind(pool);
  const down = Promise.withResolvers<void>();
  const spy = vi.spyOn(pool, 'connect').mockImplementation(() => down.promise.then(connect));
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  down.resolve();
  spy.mockRestore();
  expect(text).toContain('crossward_messages_sent_total{channel="sms"}');
  expect(text).not.toContain('crossward_messages_waiting{');
  expect(text).not.toContain('crossward_messages_oldest_waiting_seconds{');
});
