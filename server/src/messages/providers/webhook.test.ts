import { createHmac, randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Secret } from '../../config/environment/secret.ts';
import { inGoodTime, json, outgoing, providerServer, type Received } from './test-support.ts';
import { webhook } from './webhook.ts';

const key = randomBytes(32);
const secret = new Secret(`whsec_${key.toString('base64')}`);

/** Verifies a signature like a receiver: https://docs.standardwebhooks.com */
function isVerified(key: Buffer, { headers, body }: Received): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const age = Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp']));
  const expected = `v1,${createHmac('sha256', key).update(signed, 'utf8').digest('base64')}`;
  return age < 300 && headers['webhook-signature'] === expected;
}

it('posts JSON that a receiver can verify', async () => {
  await using server = await providerServer((_, response) => response.writeHead(204).end());
  const message = outgoing();
  await webhook({ url: `${server.url}/sms?tenant=1`, secret }).send(message, inGoodTime());
  const [request] = server.received as [Received];
  expect(request).toMatchObject({ method: 'POST', path: '/sms?tenant=1' });
  expect(request.headers['content-type']).toBe('application/json');
  expect(JSON.parse(request.body)).toEqual({ channel: 'sms', to: message.to, text: message.text });
  expect(isVerified(key, request)).toBe(true);
  expect(isVerified(randomBytes(32), request)).toBe(false);
  expect(isVerified(key, { ...request, body: request.body.replace('739158', '739159') })).toBe(false);
});

it('accepts a plain-text secret', async () => {
  await using server = await providerServer((_, response) => json(response, 200, {}));
  await webhook({ url: server.url, secret: new Secret('correct horse') }).send(outgoing(), inGoodTime());
  expect(isVerified(Buffer.from('correct horse'), server.received[0] as Received)).toBe(true);
});

it('keeps the message id when it retries', async () => {
  await using server = await providerServer((_, response) => response.writeHead(500).end());
  const message = outgoing();
  const sender = webhook({ url: server.url, secret });
  for (let attempt = 0; attempt < 2; attempt++) await expect(sender.send(message, inGoodTime())).rejects.toThrow();
  expect(server.received.map(({ headers }) => headers['webhook-id'])).toEqual([message.id, message.id]);
});

it('does not follow redirects', async () => {
  await using elsewhere = await providerServer((_, response) => response.end());
  await using server = await providerServer((_, response) =>
    response.writeHead(307, { location: elsewhere.url }).end(),
  );
  await expect(webhook({ url: server.url, secret }).send(outgoing(), inGoodTime())).rejects.toMatchObject({
    name: 'PermanentFailure',
    reason: 'http_307',
  });
  expect(elsewhere.received).toHaveLength(0);
});

it('reads Retry-After, in seconds or as a date', async () => {
  const later = new Date(Date.now() + 90_000).toUTCString();
  const values = ['120', later, 'soon', ''];
  await using server = await providerServer((_, response) =>
    response.writeHead(429, { 'retry-after': values[server.received.length - 1] }).end(),
  );
  const waits: unknown[] = [];
  for (const _ of values) {
    const failure = await webhook({ url: server.url, secret })
      .send(outgoing(), inGoodTime())
      .catch((error) => error);
    expect(failure.name).toBe('TemporaryFailure');
    waits.push(failure.retryAfterSeconds);
  }
  expect(waits[0]).toBe(120);
  expect(waits[1]).toBeGreaterThan(80);
  expect(waits[1]).toBeLessThanOrEqual(91);
  expect(waits.slice(2)).toEqual([undefined, undefined]);
});

it('times out while it waits for a response', async () => {
  await using server = await providerServer(() => undefined);
  const sending = webhook({ url: server.url, secret }).send(outgoing(), AbortSignal.timeout(100));
  await expect(sending).rejects.toMatchObject({ name: 'TemporaryFailure', reason: 'timeout' });
});

it('times out while it reads an endless response', async () => {
  await using server = await providerServer(async (_, response) => {
    response.writeHead(200);
    while (!response.destroyed) {
      response.write(' ');
      await sleep(10);
    }
  });
  const sending = webhook({ url: server.url, secret }).send(outgoing(), AbortSignal.timeout(200));
  await expect(sending).rejects.toMatchObject({ name: 'TemporaryFailure', reason: 'timeout' });
});

it('limits how much of a response it reads', async () => {
  let finished = false;
  await using server = await providerServer((_, response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let left = 4_096;
    const more = () => {
      while (left-- > 0) if (!response.write(chunk)) return void response.once('drain', more);
      finished = true;
      response.end();
    };
    more();
  });
  await webhook({ url: server.url, secret }).send(outgoing(), inGoodTime());
  expect(finished).toBe(false);
});

it('retries after a connection that was closed or rejected', async () => {
  await using server = await providerServer((_, response) => response.socket?.destroy());
  const temporary = (reason: string) => ({ name: 'TemporaryFailure', reason, message: reason });
  await expect(webhook({ url: server.url, secret }).send(outgoing(), inGoodTime())).rejects.toMatchObject(
    temporary('connection'),
  );
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  await expect(
    webhook({ url: `http://127.0.0.1:${port}`, secret }).send(outgoing(), inGoodTime()),
  ).rejects.toMatchObject(temporary('connection_refused'));
});
