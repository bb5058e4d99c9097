/** @module-tag any-database */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { book, sodermalm } from '../../../test/bookings.ts';
import {
  backdateCode,
  careUnitOf,
  codeIn,
  confirmationOf,
  eventually,
  type Message,
  rowsOf,
} from '../../../test/codes.ts';
import { startGateway } from '../../../test/gateway.ts';
import { Secret } from '../config/secret.ts';
import { listFailed, sendAgain } from './failed.ts';
import { deleteFailedContent } from './retention.ts';

/** Rejects every message until the test repairs it. */
let isBroken = true;
const taken: Message[] = [];
const provider = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString('utf8');
  if (!isBroken) taken.push(JSON.parse(body));
  response.writeHead(isBroken ? 400 : 200).end();
});
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
const { port } = provider.address() as AddressInfo;
const gateway = await startGateway({
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
  isBroken = true;
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
  isBroken = false;
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
  isBroken = false;
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
  await deleteFailedContent(db, 1_000);
  expect(await contentOf(message.id)).toEqual([{ sealed_content: expect.any(Buffer) }]);
  await rowsOf(gateway, 'UPDATE messages SET expires_at = clock_timestamp() WHERE id = $1', [message.id]);
  expect(await sendAgain(db, message.id)).toBe(false);
  await deleteFailedContent(db, 1_000);
  expect(await contentOf(message.id)).toEqual([{ sealed_content: null }]);
});

test('an invalid id matches nothing', async () => {
  for (const id of ['nonsense', '00000000-0000-0000-0000-000000000000']) expect(await sendAgain(db, id)).toBe(false);
});
