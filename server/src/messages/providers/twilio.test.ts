import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../config/environment/secret.ts';
import { inGoodTime, json, outgoing, providerServer } from './test-support.ts';
import { twilio } from './twilio.ts';

const account = `AC${'a1'.repeat(16)}`;
const accepted = { sid: `SM${'b2'.repeat(16)}`, status: 'queued', error_code: null, error_message: null };
const rejection = (code: number, status: number) => ({
  code,
  message: "The 'To' number +46700000123 is not a valid phone number.",
  more_info: `https://www.twilio.com/docs/errors/${code}`,
  status,
});

function sender(url: string, from: { from: string } | { messaging_service_sid: string } = { from: '+15005550006' }) {
  return twilio({ account_sid: account, auth_token: new Secret('token'), base_url: url, ...from });
}

it('sends as the documentation of Twilio says', async () => {
  await using server = await providerServer((_, response) => json(response, 201, accepted));
  const message = outgoing();
  await sender(server.url).send(message, inGoodTime());
  await sender(server.url, { messaging_service_sid: 'MG1' }).send(message, inGoodTime());
  const [direct, byService] = server.received;
  expect(direct).toMatchObject({ method: 'POST', path: `/2010-04-01/Accounts/${account}/Messages.json` });
  expect(direct?.headers.authorization).toBe(`Basic ${Buffer.from(`${account}:token`).toString('base64')}`);
  expect(Object.fromEntries(new URLSearchParams(direct?.body))).toEqual({
    From: '+15005550006',
    To: message.to,
    Body: message.text,
  });
  expect(new URLSearchParams(byService?.body).get('MessagingServiceSid')).toBe('MG1');
  expect(new URLSearchParams(byService?.body).has('From')).toBe(false);
});

it.each([
  [400, 21211, 'PermanentFailure'],
  [400, 21610, 'PermanentFailure'],
  [400, 21614, 'PermanentFailure'],
  [401, 20003, 'PermanentFailure'],
  [403, 20005, 'PermanentFailure'],
  [404, 20404, 'PermanentFailure'],
  [400, 21611, 'TemporaryFailure'],
  [429, 20429, 'TemporaryFailure'],
  [500, 20500, 'TemporaryFailure'],
  [503, 20503, 'TemporaryFailure'],
])('%i with error %i is classified', async (status, code, name) => {
  await using server = await providerServer((_, response) => json(response, status, rejection(code, status)));
  const sending = sender(server.url).send(outgoing(), inGoodTime());
  await expect(sending).rejects.toMatchObject({ name, reason: `twilio_${code}`, message: `twilio_${code}` });
});

it('handles errors without a code', async () => {
  await using server = await providerServer((_, response) => response.writeHead(400).end('<html>'));
  await expect(sender(server.url).send(outgoing(), inGoodTime())).rejects.toMatchObject({
    name: 'PermanentFailure',
    reason: 'http_400',
  });
});

it('asks for receipts', async () => {
  await using server = await providerServer((_, response) => json(response, 201, accepted));
  const receiptUrl = 'https://appointments.example.org/c/receipts/t';
  await sender(server.url).send(outgoing({ receiptUrl }), inGoodTime());
  expect(new URLSearchParams(server.received[0]?.body).get('StatusCallback')).toBe(receiptUrl);
});

describe('a receipt', () => {
  const received = (url: string, form: Record<string, string>, signature: string, token = '12345') =>
    twilio({ account_sid: account, auth_token: new Secret(token), from: '+15005550006' }).readReceipt?.({
      url,
      header: (name) => (name === 'x-twilio-signature' ? signature : undefined),
      form: new URLSearchParams(form),
    });

  it('is verified as the example of Twilio’s documentation', () => {
    const url = 'https://mycompany.com/myapp.php?foo=1&bar=2';
    const form = {
      CallSid: 'CA1234567890ABCDE',
      Caller: '+12349013030',
      Digits: '1234',
      From: '+12349013030',
      To: '+18005551212',
    };
    const signature = '0/KCTR6DLpKmkAf8muzZqo1nDgQ=';
    expect(received(url, form, signature)).toBe('interim');
    expect(received(url, form, signature, '12346')).toBe('rejected');
    expect(received(url.replace('bar', 'baz'), form, signature)).toBe('rejected');
    expect(received(url, { ...form, Digits: '1235' }, signature)).toBe('rejected');
    expect(received(url, form, '')).toBe('rejected');
  });

  it.each([
    [{ MessageStatus: 'delivered' }, 'delivered'],
    [{ MessageStatus: 'undelivered', ErrorCode: '30003' }, { failure: 'twilio_30003' }],
    [{ MessageStatus: 'failed' }, { failure: 'undelivered' }],
    [{ MessageStatus: 'failed', ErrorCode: '+46700000123' }, { failure: 'undelivered' }],
    [{ MessageStatus: 'sent' }, 'interim'],
    [{}, 'interim'],
    // Sorted by name: `From` is before `FromCountry`, whatever the sender is called.
    [{ FromCountry: 'SE', From: 'Vardcentral', MessageStatus: 'delivered' }, 'delivered'],
  ])('%o is read, with the port in the signed URL or without', (form: Record<string, string>, expected) => {
    const url = 'https://appointments.example.org/c/receipts/t';
    for (const signed of [url, url.replace('.org', '.org:443')]) {
      const names = Object.keys(form).sort();
      const parameters = names.map((name) => `${name}${form[name]}`).join('');
      const signature = createHmac('sha1', '12345').update(`${signed}${parameters}`).digest('base64');
      expect(received(url, form, signature)).toEqual(expected);
    }
  });
});
