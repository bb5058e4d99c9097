import { expect, it } from 'vitest';
import { Secret } from '../../config/secret.ts';
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
