/** @module-tag any-database */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, expect, test } from 'vitest';
import { checkMessages } from '../../server/src/cli/doctor/check-messages.ts';
import { Secret } from '../../server/src/config/environment/secret.ts';
import { listFailingProviders } from '../../server/src/messages/provider-faults.ts';
import { startGateway } from '../gateway/gateway.ts';
import { book, sodermalm } from '../requests/bookings.ts';
import { careUnitOf, confirmationOf, eventually, rowsOf } from '../requests/codes.ts';
import { browserWith, withConsole } from '../requests/console.ts';
import { readEvents } from '../requests/events.ts';
import { readMetrics, whyNotFiring } from './alerts.ts';

/** With which status the provider of SMS answers. */
let status = 200;
const provider = createServer((request, response) => {
  request.resume();
  response.writeHead(status).end();
}).listen(0, '127.0.0.1');
await once(provider, 'listening');
const address = `127.0.0.1:${(provider.address() as AddressInfo).port}`;

const sms = { provider: 'webhook', url: `http://${address}/sms`, secret: new Secret('a secret of the tests') } as const;
const gateway = await startGateway({
  intervals: { messages: 200 },
  configure: (demo) => ({ ...withConsole(demo), messages: { ...demo.messages, sms } }),
});
/** What `doctor` finds about the provider of SMS. */
const found = async () => (await checkMessages({ messages: { sms } }, gateway.database))[0];
afterAll(async () => {
  await gateway.close();
  provider.closeAllConnections();
  provider.close();
});
afterEach(() => rowsOf(gateway, 'DELETE FROM messages'));

const sweden = careUnitOf(gateway, sodermalm);
const failing = async () => (await listFailingProviders(gateway.deps.services.db)).map((it) => it.failureReason);
const overview = async (name: string) => {
  const { browser } = await browserWith(gateway, name, 'view');
  return (await browser.open('/console')).text;
};

/** Books an appointment whose code does not leave. */
async function bookWithoutCode(delivery: 'delayed' | 'failed'): Promise<string> {
  const { id } = await book(gateway, { careUnit: sodermalm });
  await eventually(async () =>
    expect(await rowsOf(gateway, 'SELECT FROM messages WHERE failure_reason IS NOT NULL')).toHaveLength(1),
  );
  // A minute goes by.
  await rowsOf(gateway, "UPDATE messages SET created_at = created_at - interval '1 minute'");
  await eventually(async () => expect(confirmationOf(await sweden.get(id)).delivery).toBe(delivery));
  return id;
}

test.each([
  { answer: 500, delivery: 'delayed', event: 'message.delayed', words: '1 message has not left yet' },
  { answer: 401, delivery: 'failed', event: 'message.failed', words: '1 message can be sent again after a failure' },
] as const)(
  'a provider that answers everything with $answer is told by API, event, console, log, metric, alert and doctor',
  async ({ answer, delivery, event, words }) => {
    status = answer;
    const id = await bookWithoutCode(delivery);
    await eventually(async () => {
      const { events } = await readEvents(gateway);
      const found = events.filter(({ type, data }) => type === event && data.appointment_id === id);
      expect(found).toEqual([expect.objectContaining({ data: expect.objectContaining({ reason: `http_${answer}` }) })]);
    });
    expect(await overview(`operator-${answer}`)).toContain(`${words}: status ${answer} from ${address}, since`);
    const lines = gateway.logLines.filter((line) => line.includes('"msg":"attempts to send messages fail"'));
    expect(lines.length).toBeGreaterThan(0);
    expect(await failing()).toEqual([`http_${answer}`]);
    expect(await found()).toMatchObject({
      subject: 'SMS',
      status: 'problem',
      text: expect.stringContaining(`status ${answer} from ${address}`),
    });
    const metrics = await readMetrics(gateway);
    expect(metrics).toContain('crossward_messages_provider_failing{channel="sms"} 1');
    expect(metrics).toContain('crossward_messages_provider_failing{channel="email"} 0');
    const labels = 'channel="sms",severity="critical"';
    const metric = 'crossward_messages_provider_failing';
    expect(whyNotFiring(metrics, { alert: 'CrosswardMessageProviderFails', metric, labels, within: 2 })).toBe('');
  },
);

test('one message that is refused, or a provider that has taken one since, is no fault of the provider', async () => {
  status = 400;
  await bookWithoutCode('failed');
  expect(await failing()).toEqual([]);
  await rowsOf(gateway, 'DELETE FROM messages');
  status = 503;
  await bookWithoutCode('delayed');
  expect(await failing()).toEqual(['http_503']);
  // It answers again, and has taken no message yet.
  status = 204;
  await rowsOf(gateway, "UPDATE messages SET not_before = now() + interval '1 hour'");
  expect(await found()).toMatchObject({ status: 'problem', text: expect.stringContaining('takes no messages since') });
  await rowsOf(gateway, 'UPDATE messages SET not_before = NULL');
  status = 200;
  await eventually(async () =>
    expect(await rowsOf(gateway, "SELECT FROM messages WHERE state = 'sent'")).toHaveLength(1),
  );
  expect(await failing()).toEqual([]);
  expect(await found()).toMatchObject({ status: 'ok' });
});
