/** @module-tag any-database */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book, sodermalm } from '../../../test/requests/bookings.ts';
import {
  backdateCode,
  careUnitOf,
  codeIn,
  confirmationOf,
  eventually,
  expireCode,
  type Message,
  rowsOf,
} from '../../../test/requests/codes.ts';
import { readEvents } from '../../../test/requests/events.ts';
import { Secret } from '../config/environment/secret.ts';
import { listFailed, sendAgain } from './failed.ts';
import { deleteExpiredContent } from './retention.ts';

/** Every message is answered with it. */
let status = 400;
let retryAfter: number | undefined;
const taken: Message[] = [];
const provider = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString('utf8');
  if (status === 200) taken.push(JSON.parse(body));
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
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
beforeEach(() => {
  status = 400;
  retryAfter = undefined;
  taken.length = 0;
});

const { db } = gateway.deps.services;
const sweden = careUnitOf(gateway, sodermalm);

async function failed() {
  const held = await book(gateway, { careUnit: sodermalm });
  await eventually(async () => expect(confirmationOf(await sweden.get(held.id)).delivery).toBe('failed'));
  const message = (await listFailed(db)).find(({ appointmentId }) => appointmentId === held.id);
  if (!message) throw new Error('The message is not listed');
  return { held, message };
}

/** Waits for the event that says that the code was not sent. */
function failedEventsAbout(appointmentId: string) {
  return eventually(async () => {
    const { events } = await readEvents(gateway);
    const found = events.filter(({ type, data }) => type === 'message.failed' && data.appointment_id === appointmentId);
    expect(found).toHaveLength(1);
    return found;
  });
}

/** Failed messages in the gateway's metrics. */
async function failures(): Promise<number> {
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  return Number(/^crossward_messages_failed_total\{channel="sms"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

const attemptsFor = (confirmationId: string) =>
  rowsOf(gateway, 'SELECT state, failure_reason FROM messages WHERE confirmation_id = $1', [confirmationId]);

const contentOf = (id: string) =>
  rowsOf<{ sealed_content: Buffer | null }>(gateway, 'SELECT sealed_content FROM messages WHERE id = $1', [id]);

test('a failed message is listed without personal data, and can be sent again', async () => {
  const { held, message } = await failed();
  expect(message).toEqual({
    id: expect.any(String),
    emr: 'sandbox-se',
    careUnitId: 'sodermalm',
    channel: 'sms',
    appointmentId: held.id,
    failureReason: 'http_400',
    failedAt: expect.any(Date),
    expiresAt: expect.any(Date),
  });
  status = 200;
  expect(await sendAgain(db, message.id)).toBe(true);
  await eventually(async () => expect(confirmationOf(await sweden.get(held.id)).delivery).toBe('sent'));
  expect(taken).toHaveLength(1);
  expect(await sweden.confirm(held.id, codeIn(taken[0]))).toMatchObject({ body: { status: 'booked' } });
  expect(await contentOf(message.id)).toEqual([{ sealed_content: null }]);
  expect(await sendAgain(db, message.id)).toBe(false);
});

test('it can fail again', async () => {
  const { held, message } = await failed();
  expect(await sendAgain(db, message.id)).toBe(true);
  await eventually(async () => expect((await listFailed(db)).map(({ id }) => id)).toContain(message.id));
  expect(confirmationOf(await sweden.get(held.id)).delivery).toBe('failed');
});

test('a resent code replaces it', async () => {
  const { held, message } = await failed();
  status = 200;
  await backdateCode(gateway, confirmationOf(held).id, 31);
  expect((await sweden.resend(held.id)).status).toBe(202);
  expect(await sendAgain(db, message.id)).toBe(false);
  expect(await contentOf(message.id)).toEqual([{ sealed_content: null }]);
  await eventually(async () => expect(confirmationOf(await sweden.get(held.id)).delivery).toBe('sent'));
  expect(taken).toHaveLength(1);
});

test('it cannot be sent again if no appointment awaits its code', async () => {
  const { held, message } = await failed();
  await sweden.cancel(held.id);
  expect(await sendAgain(db, message.id)).toBe(false);
  expect((await listFailed(db)).map(({ id }) => id)).not.toContain(message.id);
});

test('its content is deleted when its code expires', async () => {
  const { message } = await failed();
  await deleteExpiredContent(db, 1_000);
  expect(await contentOf(message.id)).toEqual([{ sealed_content: expect.any(Buffer) }]);
  await rowsOf(gateway, 'UPDATE messages SET expires_at = clock_timestamp() WHERE id = $1', [message.id]);
  expect(await sendAgain(db, message.id)).toBe(false);
  await deleteExpiredContent(db, 1_000);
  expect(await contentOf(message.id)).toEqual([{ sealed_content: null }]);
});

describe('while the provider is away', () => {
  beforeEach(() => {
    status = 503;
  });

  test('a code that expires before it could be sent is a failure, with an event', async () => {
    const before = await failures();
    const held = await book(gateway, { careUnit: sodermalm });
    const { id } = confirmationOf(held);
    await eventually(async () =>
      expect(await attemptsFor(id)).toEqual([{ state: 'queued', failure_reason: 'http_503' }]),
    );
    await rowsOf(gateway, 'UPDATE messages SET expires_at = now() WHERE confirmation_id = $1', [id]);
    await expireCode(gateway, held);
    const [message] = await failedEventsAbout(held.id);
    expect(message?.data).toMatchObject({ confirmation_id: id, channel: 'sms', reason: 'http_503' });
    expect(await attemptsFor(id)).toEqual([{ state: 'failed', failure_reason: 'http_503' }]);
    expect(await failures()).toBe(before + 1);
  });

  test('no attempt is planned after the end of the code', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { id } = confirmationOf(held);
    const planned = (attempts: number) =>
      rowsOf(
        gateway,
        `SELECT next_attempt_at <= expires_at AS "isInTime" FROM messages
         WHERE confirmation_id = $1 AND failure_reason IS NOT NULL AND attempts >= $2`,
        [id, attempts],
      );
    await eventually(async () => expect(await planned(1)).toEqual([{ isInTime: true }]));
    // The code ends sooner than the pause that so many attempts would have.
    await rowsOf(gateway, `UPDATE messages SET expires_at = now() + interval '20 seconds' WHERE confirmation_id = $1`, [
      id,
    ]);
    await rowsOf(gateway, `UPDATE messages SET attempts = 10, next_attempt_at = now() WHERE confirmation_id = $1`, [
      id,
    ]);
    await eventually(async () => expect(await planned(11)).toEqual([{ isInTime: true }]));
    // The last attempt, at the end of the code.
    await rowsOf(gateway, `UPDATE messages SET expires_at = now() + interval '2 seconds' WHERE confirmation_id = $1`, [
      id,
    ]);
    await rowsOf(gateway, `UPDATE messages SET next_attempt_at = expires_at WHERE confirmation_id = $1`, [id]);
    await failedEventsAbout(held.id);
    expect(await attemptsFor(id)).toEqual([{ state: 'failed', failure_reason: 'http_503' }]);
  });

  test('a code that ends before the provider wants to be asked again fails at once', async () => {
    retryAfter = 86_400;
    const held = await book(gateway, { careUnit: sodermalm });
    await failedEventsAbout(held.id);
    expect(confirmationOf(await sweden.get(held.id)).delivery).toBe('failed');
  });
});

test('an invalid id matches nothing', async () => {
  for (const id of ['nonsense', '00000000-0000-0000-0000-000000000000']) expect(await sendAgain(db, id)).toBe(false);
});
