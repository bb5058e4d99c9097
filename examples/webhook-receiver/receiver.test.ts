import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createReceiver } from './receiver.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const seen: string[] = [];
let isFailing = false;
const receiver = createReceiver({
  secret,
  onEvent({ id }) {
    if (isFailing) throw new Error('Simulated failure');
    seen.push(id);
  },
});
let url: string;
beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(() => receiver.close());

async function deliver(id: string, { signedWith = secret, at = new Date(), padding = 0 } = {}): Promise<number> {
  const body = JSON.stringify({ id, type: 'webhook.test', data: {} }) + ' '.repeat(padding);
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(signedWith).sign(id, at, body),
  };
  return (await fetch(url, { method: 'POST', body, headers })).status;
}

test('passes each event on once, also if it is delivered twice', async () => {
  const id = randomUUID();
  expect([await deliver(id), await deliver(id)]).toEqual([204, 204]);
  expect(seen.filter((it) => it === id)).toEqual([id]);
});

test('rejects what is not signed with the secret, or was signed long ago', async () => {
  const other = `whsec_${randomBytes(32).toString('base64')}`;
  const tenMinutesAgo = new Date(Date.now() - 600_000);
  expect(await deliver(randomUUID(), { signedWith: other })).toBe(401);
  expect(await deliver(randomUUID(), { at: tenMinutesAgo })).toBe(401);
  expect(await deliver(randomUUID(), { padding: 100_000 })).toBe(413);
  expect((await fetch(url)).status).toBe(405);
});

test('asks for an event again if it could not be processed', async () => {
  const id = randomUUID();
  isFailing = true;
  expect(await deliver(id)).toBe(500);
  isFailing = false;
  expect(await deliver(id)).toBe(204);
  expect(seen).toContain(id);
});
