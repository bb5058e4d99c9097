import { expect, it } from 'vitest';
import { Secret } from '../../config/environment/secret.ts';
import { elks } from './elks.ts';
import { inGoodTime, json, outgoing, providerServer } from './test-support.ts';

const accepted = {
  status: 'created',
  direction: 'outgoing',
  from: 'Crossward',
  created: '2026-03-20T08:00:00.000000',
  parts: 1,
  to: '+46700000123',
  cost: 3500,
  id: 's3633fa8e62f823e52fbc67ebf6925ab5',
};

const sender = (url: string) =>
  elks({ username: 'u123', password: new Secret('p456'), from: 'Crossward', base_url: url });

it('sends as the documentation of 46elks says', async () => {
  await using server = await providerServer((_, response) => json(response, 200, accepted));
  const message = outgoing();
  await sender(`${server.url}/`).send(message, inGoodTime());
  const [request] = server.received;
  expect(request).toMatchObject({ method: 'POST', path: '/a1/sms' });
  expect(request?.headers).toMatchObject({
    authorization: `Basic ${Buffer.from('u123:p456').toString('base64')}`,
    'content-type': expect.stringMatching(/^application\/x-www-form-urlencoded/),
  });
  expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
    from: 'Crossward',
    to: message.to,
    message: message.text,
    dontlog: 'message',
  });
});

it.each([
  [400, 'Missing key from', 'PermanentFailure'],
  [401, 'API access requires Basic HTTP authentication', 'PermanentFailure'],
  [403, 'Not enough credits', 'PermanentFailure'],
  [404, '', 'PermanentFailure'],
  [429, 'Too many requests', 'TemporaryFailure'],
  [500, 'Internal server error', 'TemporaryFailure'],
  [503, '<html>down</html>', 'TemporaryFailure'],
])('%i is classified', async (status, body, name) => {
  await using server = await providerServer((_, response) => response.writeHead(status).end(body));
  const sending = sender(server.url).send(outgoing(), inGoodTime());
  await expect(sending).rejects.toMatchObject({ name, reason: `http_${status}`, message: `http_${status}` });
});

it.each(['<html>Sign in</html>', '', '"fine"'])(
  'takes %j for the answer of something else, and tries again',
  async (body) => {
    await using server = await providerServer((_, response) => response.writeHead(200).end(body));
    const sending = sender(server.url).send(outgoing(), inGoodTime());
    await expect(sending).rejects.toMatchObject({ name: 'TemporaryFailure', reason: 'response_malformed' });
  },
);

it('detects a message that failed immediately', async () => {
  await using server = await providerServer((_, response) => json(response, 200, { ...accepted, status: 'failed' }));
  await expect(sender(server.url).send(outgoing(), inGoodTime())).rejects.toMatchObject({
    name: 'PermanentFailure',
    reason: 'elks_failed',
  });
});

it('asks for receipts, and reads them as the documentation says', async () => {
  await using server = await providerServer((_, response) => json(response, 200, accepted));
  const receiptUrl = 'https://appointments.example.org/c/receipts/t';
  await sender(server.url).send(outgoing({ receiptUrl }), inGoodTime());
  expect(new URLSearchParams(server.received[0]?.body).get('whendelivered')).toBe(receiptUrl);
  const read = (body: string) =>
    sender(server.url).readReceipt?.({ url: receiptUrl, header: () => undefined, form: new URLSearchParams(body) });
  expect(read('id=s1&status=delivered&delivered=2026-03-20T08%3A00%3A03.000000')).toBe('delivered');
  expect(read('id=s1&status=failed')).toEqual({ failure: 'elks_failed' });
  for (const body of ['id=s1&status=sent', 'id=s1', '']) expect(read(body)).toBe('interim');
});
