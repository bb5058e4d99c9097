/** @module-tag any-database */
import { createHmac } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, book, sodermalm } from '../../../test/requests/bookings.ts';
import {
  backdateCode,
  careUnitOf,
  codeIn,
  confirmationOf,
  eventually,
  type Message,
  rowsOf,
} from '../../../test/requests/codes.ts';
import { browserWith, withConsole } from '../../../test/requests/console.ts';
import { readEvents } from '../../../test/requests/events.ts';
import { browserOf, pagePath, withPages } from '../../../test/requests/patient-page.ts';
import type { Configuration } from '../config/configuration.ts';
import { Secret } from '../config/environment/secret.ts';
import { deleteExpiredContent } from './retention.ts';

/** Messages that the provider has taken. */
const taken: URLSearchParams[] = [];
/** What the provider does before it answers. */
let beforeAnswer: (message: URLSearchParams, response: ServerResponse) => Promise<unknown> | undefined;
const server = createServer(async (request, response) => {
  const message = new URLSearchParams(Buffer.concat(await request.toArray()).toString('utf8'));
  taken.push(message);
  await beforeAnswer(message, response);
  if (!response.destroyed) response.setHeader('content-type', 'application/json').end('{"status":"created"}');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => server.close());
beforeEach(() => {
  taken.length = 0;
  beforeAnswer = () => undefined;
});

const publicUrl = 'https://appointments.example.org';
const authToken = 'a token of the tests';
const phone = '+46700000123';
const form = 'application/x-www-form-urlencoded';

type Outcome = 'delivered' | 'failed';

interface Provider {
  readonly sms: NonNullable<Configuration['messages']['sms']>;
  urlIn(message: URLSearchParams): string;
  receipt(url: string, outcome: Outcome | 'sent'): { body: string; headers: Record<string, string> };
  /** What a failure by receipt is called. */
  readonly reason: string;
  readonly cause: string;
}

const elks: Provider = {
  sms: { provider: '46elks', username: 'u1', password: new Secret('p1'), from: 'Crossward', base_url },
  urlIn: (message) => message.get('whendelivered') ?? '',
  receipt(_url, outcome) {
    const delivered = outcome === 'delivered' ? { delivered: '2026-03-20T08:00:03.000000' } : {};
    const body = new URLSearchParams({ id: 's3633fa8e62f823e52fbc67ebf6925ab5', status: outcome, ...delivered });
    return { body: body.toString(), headers: { 'content-type': form } };
  },
  reason: 'elks_failed',
  cause: 'the provider reports that it failed',
};

const twilio: Provider = {
  sms: {
    provider: 'twilio',
    account_sid: `AC${'a1'.repeat(16)}`,
    auth_token: new Secret(authToken),
    from: '+15005550006',
    base_url,
  },
  urlIn: (message) => message.get('StatusCallback') ?? '',
  receipt(url, outcome) {
    const fields = {
      To: phone,
      From: '+15005550006',
      MessageSid: `SM${'b2'.repeat(16)}`,
      MessageStatus: outcome === 'failed' ? 'undelivered' : outcome,
      ...(outcome === 'failed' ? { ErrorCode: '30003' } : {}),
    };
    const signed = `${url}${Object.entries(fields)
      .map((field) => field.join(''))
      .sort()
      .join('')}`;
    const signature = createHmac('sha1', authToken).update(signed).digest('base64');
    return {
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': form, 'x-twilio-signature': signature },
    };
  },
  reason: 'twilio_30003',
  cause: 'error 30003 of Twilio',
};

function post(gateway: Gateway, url: string, { body, headers }: ReturnType<Provider['receipt']>) {
  return gateway.request<Problem>('POST', url.replace(publicUrl, ''), { client: null, body, headers });
}
type Problem = { readonly reason?: string };

/** The counter of the gateway. */
async function counted(gateway: Gateway, result: string): Promise<number> {
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  const line = new RegExp(`^crossward_message_receipts_total\\{channel="sms",result="${result}"\\} (\\d+)$`, 'm');
  return Number(line.exec(text)?.[1] ?? 0);
}

describe.each([
  ['46elks', elks],
  ['Twilio', twilio],
] as const)('a receipt of %s', async (_name, provider) => {
  const gateway = await startGateway({
    intervals: { messages: 200 },
    configure: (demo) => ({
      ...withConsole(withPages(demo, publicUrl)),
      messages: { ...demo.messages, sms: provider.sms },
    }),
  });
  afterAll(() => gateway.close());
  const sweden = careUnitOf(gateway, sodermalm);
  const { db } = gateway.deps.services;

  const report = async (url: string, outcome: Outcome | 'sent') => {
    const response = await post(gateway, url, provider.receipt(url, outcome));
    expect(response).toMatchObject({ status: 204, text: '' });
  };
  const deliveryOf = async ({ id }: Appointment) => confirmationOf(await sweden.get(id)).delivery;
  const reaches = (held: Appointment, delivery: string) =>
    eventually(async () => expect(await deliveryOf(held)).toBe(delivery));
  const eventsAbout = async ({ id }: Appointment) => {
    const { events } = await readEvents(gateway);
    return events.filter(({ type, data }) => type.startsWith('message.') && data.appointment_id === id);
  };
  /** Also those that are not published yet. */
  const writtenAbout = ({ id }: Appointment) =>
    rowsOf(
      gateway,
      "SELECT type, data ->> 'reason' AS reason FROM events WHERE type LIKE 'message.%' AND data ->> 'appointment_id' = $1",
      [id],
    );
  const contentOf = (held: Appointment) =>
    rowsOf(gateway, 'SELECT sealed_content IS NOT NULL AS kept FROM messages WHERE confirmation_id = $1', [
      confirmationOf(held).id,
    ]);
  async function sent() {
    const held = await book(gateway, { careUnit: sodermalm });
    await reaches(held, 'sent');
    return { held, url: provider.urlIn(taken.at(-1) as URLSearchParams) };
  }

  test('turns sent into delivered, in the API, on the page and as an event, once and for good', async () => {
    const { held, url } = await sent();
    expect(url).toMatch(/^https:\/\/appointments\.example\.org\/c\/receipts\/[\w-]{24}$/);
    expect(await contentOf(held)).toEqual([{ kept: true }]);
    await report(url, 'sent');
    expect(await deliveryOf(held)).toBe('sent');
    await report(url, 'delivered');
    expect(await deliveryOf(held)).toBe('delivered');
    expect(await contentOf(held)).toEqual([{ kept: false }]);
    expect((await browserOf(gateway).open(`${pagePath(held)}?lang=en`)).text).toContain(
      'We have sent you the code by SMS.',
    );
    const late = await counted(gateway, 'late');
    await report(url, 'delivered');
    await report(url, 'failed');
    expect(await counted(gateway, 'late')).toBe(late + 2);
    expect(await deliveryOf(held)).toBe('delivered');
    await eventually(async () =>
      expect(await eventsAbout(held)).toMatchObject([
        { type: 'message.delivered', data: { confirmation_id: confirmationOf(held).id, channel: 'sms', reason: null } },
      ]),
    );
    expect((await sweden.confirm(held.id, codeIn(lastMessage()))).body).toMatchObject({ status: 'booked' });
  });

  test('that the message failed shows in the API, the console and an event, and it can be sent again', async () => {
    const { held, url } = await sent();
    await report(url, 'failed');
    await report(url, 'failed');
    expect(await deliveryOf(held)).toBe('failed');
    await eventually(async () =>
      expect(await eventsAbout(held)).toMatchObject([{ type: 'message.failed', data: { reason: provider.reason } }]),
    );
    const [event] = await eventsAbout(held);
    const { browser } = await browserWith(gateway, 'receipts', 'operate');
    expect((await browser.open('/console')).text).toContain(provider.cause);
    expect((await browser.open('/console/messages')).text).toContain(`failed SMS: 1 message, ${provider.cause}`);
    await browser.submit(`/console/messages/${event?.data.message_id}/send`);
    await reaches(held, 'sent');
    expect(taken).toHaveLength(2);
    // Of the first attempt.
    await report(url, 'failed');
    await report(url, 'delivered');
    expect(await deliveryOf(held)).toBe('sent');
    await report(provider.urlIn(taken[1] as URLSearchParams), 'delivered');
    expect(await deliveryOf(held)).toBe('delivered');
    expect((await browser.open('/console/messages')).text).toMatch(/SMS 2 2/);
  });

  test('that it failed is corrected by one that it has arrived', async () => {
    const { held, url } = await sent();
    await report(url, 'failed');
    await report(url, 'delivered');
    expect(await deliveryOf(held)).toBe('delivered');
    expect(await contentOf(held)).toEqual([{ kept: false }]);
  });

  test.each(['delivered', 'failed'] as const)(
    '%s counts if it comes before the provider has answered',
    async (outcome) => {
      beforeAnswer = (message) => report(provider.urlIn(message), outcome);
      const held = await book(gateway, { careUnit: sodermalm });
      await reaches(held, outcome);
      const { id } = confirmationOf(held);
      const [message] = await eventually(async () => {
        const ended = await rowsOf<{ id: string }>(
          gateway,
          "SELECT id FROM messages WHERE confirmation_id = $1 AND state <> 'queued'",
          [id],
        );
        expect(ended).toHaveLength(1);
        return ended;
      });
      // The provider has answered.
      await eventually(() =>
        expect(gateway.logLines.map((text) => JSON.parse(text))).toContainEqual(
          expect.objectContaining({ msg: 'message sent', message_id: message?.id }),
        ),
      );
      expect(await deliveryOf(held)).toBe(outcome);
      expect(await writtenAbout(held)).toHaveLength(1);
    },
  );

  test('spares the patient a second message if the answer of the provider is lost', async () => {
    beforeAnswer = async (message, response) => {
      await report(provider.urlIn(message), 'delivered');
      response.destroy();
    };
    const held = await book(gateway, { careUnit: sodermalm });
    await eventually(async () =>
      expect(
        await rowsOf(
          gateway,
          'SELECT state, delivered_at IS NOT NULL AS arrived FROM messages WHERE confirmation_id = $1',
          [confirmationOf(held).id],
        ),
      ).toEqual([{ state: 'sent', arrived: true }]),
    );
    expect(taken).toHaveLength(1);
    expect(await contentOf(held)).toEqual([{ kept: false }]);
  });

  test('of a superseded code changes nothing', async () => {
    const { held, url } = await sent();
    await backdateCode(gateway, confirmationOf(held).id, 31);
    expect((await sweden.resend(held.id)).status).toBe(202);
    await eventually(() => expect(taken).toHaveLength(2));
    await reaches(held, 'sent');
    await report(url, 'failed');
    expect(await deliveryOf(held)).toBe('sent');
    expect(await writtenAbout(held)).toEqual([]);
  });

  test('that never comes leaves nothing of the message behind when its code expires', async () => {
    const { held } = await sent();
    await rowsOf(gateway, 'UPDATE messages SET expires_at = clock_timestamp() WHERE confirmation_id = $1', [
      confirmationOf(held).id,
    ]);
    await deleteExpiredContent(db, 1_000);
    expect(await contentOf(held)).toEqual([{ kept: false }]);
  });

  test('gets the same answer whatever its token is', async () => {
    const { held } = await sent();
    for (const token of ['x', 'A'.repeat(24), 'A'.repeat(2_000)]) {
      await report(`${publicUrl}/c/receipts/${token}`, 'failed');
    }
    expect(await deliveryOf(held)).toBe('sent');
  });

  test('is limited in size, kind and number', async () => {
    const url = `${publicUrl}/c/receipts/${'B'.repeat(24)}`;
    const headers = { 'content-type': form };
    expect(await post(gateway, url, { body: 'a'.repeat(5_000), headers })).toMatchObject({ status: 413 });
    expect(await post(gateway, url, { body: '{}', headers: { 'content-type': 'application/json' } })).toMatchObject({
      status: 415,
    });
    const statuses = [];
    for (let sent = 0; sent < 25; sent++) statuses.push((await post(gateway, url, { body: 'a=1', headers })).status);
    expect(statuses).toContain(204);
    expect(statuses.at(-1)).toBe(429);
  });

  test('leaves neither its token nor a phone number in the log or the table', async () => {
    const { url } = await sent();
    await report(url, 'delivered');
    const token = url.slice(-24);
    const rows = await rowsOf<{ text: string }>(gateway, 'SELECT messages::text AS text FROM messages');
    const traces = [...gateway.logLines, ...rows.map(({ text }) => text)].join('\n');
    expect(traces).toContain('/c/receipts/:token');
    expect(traces).not.toContain(token);
    expect(traces).not.toContain(phone);
  });

  if (provider === twilio) {
    test('that is not signed by Twilio for the public URL is ignored, and logged', async () => {
      const { held, url } = await sent();
      const rejected = await counted(gateway, 'rejected');
      const { body, headers } = provider.receipt(url, 'failed');
      const { 'x-twilio-signature': signature = '', ...rest } = headers;
      const elsewhere = provider.receipt(url.replace('appointments.example.org', 'elsewhere.example'), 'failed');
      const attempts = [
        { body, headers: rest },
        {
          body,
          headers: {
            ...headers,
            'x-twilio-signature': `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
          },
        },
        { body: body.replace('undelivered', 'delivered'), headers },
        { ...elsewhere, headers: { ...elsewhere.headers, host: 'elsewhere.example' } },
      ];
      for (const attempt of attempts) expect(await post(gateway, url, attempt)).toMatchObject({ status: 204 });
      expect(await counted(gateway, 'rejected')).toBe(rejected + attempts.length);
      expect(await deliveryOf(held)).toBe('sent');
      expect(gateway.logLines.filter((line) => line.includes('delivery receipt rejected'))).toHaveLength(4);
    });
  }

  function lastMessage(): Message {
    const text = taken.at(-1)?.get('message') ?? taken.at(-1)?.get('Body') ?? '';
    return { channel: 'sms', to: '', text, appointment_id: '', sent_at: '' };
  }
});
