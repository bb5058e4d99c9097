/** @module-tag any-database */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { afterAll, afterEach, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { freePort } from '../../../test/processes/free-port.ts';
import { type Appointment, book, bookEach, consecutiveSlots, sodermalm } from '../../../test/requests/bookings.ts';
import { careUnitOf, confirmationOf, eventually, rowsOf } from '../../../test/requests/codes.ts';
import { browserWith, withConsole } from '../../../test/requests/console.ts';
import { readEvents } from '../../../test/requests/events.ts';
import { browserOf, pagePath, withPages } from '../../../test/requests/patient-page.ts';
import { Secret } from '../config/environment/secret.ts';
import { resolvePatientPage } from '../config/schema/patient-page.ts';
import { sendAgain } from './failed.ts';

/** The address of a provider that is down: nothing listens there. */
const port = await freePort();
const gateway = await startGateway({
  intervals: { messages: 200 },
  configure: (demo) => ({
    ...withConsole(withPages(demo)),
    emrs: demo.emrs.map((emr) => ({
      ...emr,
      care_units: emr.care_units.map((it) => ({
        ...it,
        patient_page: resolvePatientPage({ phone: '+46 8 000 00 00' }),
      })),
    })),
    messages: {
      ...demo.messages,
      sms: { provider: 'webhook', url: `http://127.0.0.1:${port}/sms`, secret: new Secret('a secret of the tests') },
    },
  }),
});
afterAll(() => gateway.close());
let provider: Server | undefined;
afterEach(async () => {
  await stopProvider();
  // Messages of other tests are not sent any more.
  await rowsOf(gateway, 'DELETE FROM messages');
});

const { db, outbox } = gateway.deps.services;
const sweden = careUnitOf(gateway, sodermalm);

/** Starts the provider. It answers every message with this status. */
async function startProvider(status: number): Promise<void> {
  provider = createServer((request, response) => {
    request.resume();
    response.writeHead(status).end();
  }).listen(port, '127.0.0.1');
  await once(provider, 'listening');
}

async function stopProvider(): Promise<void> {
  const stopped = provider;
  provider = undefined;
  if (!stopped) return;
  stopped.close();
  stopped.closeAllConnections();
  await once(stopped, 'close');
}

/** Sets the age of all messages, since they were queued. */
const setAge = (seconds: number) =>
  rowsOf(
    gateway,
    `UPDATE messages SET created_at = least(created_at, clock_timestamp() - make_interval(secs => $1)),
       queued_again_at = CASE WHEN queued_again_at IS NOT NULL THEN clock_timestamp() - make_interval(secs => $1) END`,
    [seconds],
  );

/** The page of an appointment, in English. */
const pageOf = async (held: Appointment) => (await browserOf(gateway).open(`${pagePath(held)}?lang=en`)).text;

const deliveryOf = async ({ id }: Appointment) => confirmationOf(await sweden.get(id)).delivery;

function reaches(held: Appointment, delivery: string) {
  return eventually(async () => expect(await deliveryOf(held)).toBe(delivery));
}

async function eventsAbout({ id }: Appointment) {
  const { events } = await readEvents(gateway);
  return events.filter(({ type, data }) => type.startsWith('message.') && data.appointment_id === id);
}

/** Waits until the last failed attempt had this reason. */
function failsWith(reason: string) {
  return eventually(async () =>
    expect(await rowsOf(gateway, 'SELECT failure_reason FROM messages')).toEqual([{ failure_reason: reason }]),
  );
}

async function metric(name: string): Promise<number | undefined> {
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  const [, value] = new RegExp(`^crossward_messages_${name}\\{channel="sms"\\} (\\S+)$`, 'm').exec(text) ?? [];
  return value === undefined ? undefined : Number(value);
}

const linesAbout = (messageId: unknown) =>
  gateway.logLines
    .map((text) => JSON.parse(text))
    .filter((it) => it.msg === 'message delayed' && it.message_id === messageId);

test('an outage of the provider is told after a minute by page, API, event, metric, log and console, once', async () => {
  const counted = (await metric('delayed_total')) ?? 0;
  const held = await book(gateway, { careUnit: sodermalm });
  await failsWith('connection_refused');
  await setAge(20);
  await outbox.markDelayed();
  expect(await deliveryOf(held)).toBe('queued');
  expect(await pageOf(held)).toContain('We are sending you the code by SMS.');
  expect(await metric('delayed')).toBe(0);

  await setAge(60);
  await reaches(held, 'delayed');
  const late = 'The message with the code is late. We keep trying to send it, and the code is valid meanwhile.';
  expect(await pageOf(held)).toContain(`${late} You can also call us: +46 8 000 00 00`);
  const [event, ...more] = await eventually(async () => {
    const found = await eventsAbout(held);
    expect(found).not.toEqual([]);
    return found;
  });
  expect(more).toEqual([]);
  expect(event).toMatchObject({
    type: 'message.delayed',
    emr: 'sandbox-se',
    care_unit_id: 'sodermalm',
    data: {
      message_id: expect.any(String),
      confirmation_id: confirmationOf(held).id,
      appointment_id: held.id,
      channel: 'sms',
      reason: 'connection_refused',
    },
  });
  expect(await metric('delayed')).toBe(1);
  expect(await metric('delayed_total')).toBe(counted + 1);
  expect(linesAbout(event?.data.message_id)).toEqual([
    expect.objectContaining({
      level: 40,
      channel: 'sms',
      emr: 'sandbox-se',
      reason: 'connection_refused',
      cause: `connection refused by 127.0.0.1:${port}`,
    }),
  ]);

  const { browser } = await browserWith(gateway, 'outage', 'operate');
  const cause = `connection refused by 127.0.0.1:${port}, since`;
  const { text } = await browser.open('/console/messages');
  expect(text).toContain(`delayed SMS: 1 message, ${cause}`);
  expect(text).toMatch(/\(1 min( \d+ s)?\) .* a booking sandbox-se sodermalm /);
  expect((await browser.open('/console')).text).toContain(`1 message has not left yet: ${cause}`);

  await startProvider(200);
  await rowsOf(gateway, "UPDATE messages SET next_attempt_at = now() + interval '1 hour'");
  await browser.open('/console/messages');
  expect((await browser.submit(`/console/messages/${event?.data.message_id}/send-now`)).text).toContain('is due');
  await reaches(held, 'sent');
  expect(await pageOf(held)).toContain('We have sent you the code by SMS.');
  expect(await metric('delayed')).toBe(0);
  expect(await outbox.markDelayed()).toBe(false);
  expect(await eventsAbout(held)).toHaveLength(1);
});

test('each message has one event, however many gateways look at the same time', async () => {
  const held = await bookEach(gateway, await consecutiveSlots(gateway, 5, { careUnit: sodermalm }), {
    careUnit: sodermalm,
  });
  await setAge(60);
  await Promise.all(Array.from({ length: 8 }, () => outbox.markDelayed()));
  for (const one of held) {
    await reaches(one, 'delayed');
    await eventually(async () => expect(await eventsAbout(one)).toHaveLength(1));
  }
});

test('a provider that accepts connections and does not respond is told too', async () => {
  const held: Socket[] = [];
  const hanging = createTcpServer((socket) => held.push(socket)).listen(port, '127.0.0.1');
  await once(hanging, 'listening');
  const appointment = await book(gateway, { careUnit: sodermalm });
  await eventually(() => expect(held).not.toEqual([]));
  await setAge(60);
  await reaches(appointment, 'delayed');
  const [event] = await eventually(async () => {
    const found = await eventsAbout(appointment);
    expect(found).toHaveLength(1);
    return found;
  });
  // The attempt has not ended yet.
  expect(event?.data.reason).toBeNull();
  for (const socket of held) socket.destroy();
  hanging.close();
});

/** Lets the attempts of messages that are queued during the work begin tomorrow. PostgreSQL ends one of two statements that wait for each other. */
async function withoutAttempts(work: () => Promise<void>): Promise<void> {
  const hold = `CREATE OR REPLACE FUNCTION hold_messages() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN NEW.next_attempt_at = now() + interval ''1 day''; RETURN NEW; END'`;
  await rowsOf(gateway, hold);
  const trigger =
    'CREATE OR REPLACE TRIGGER hold BEFORE INSERT OR UPDATE ON messages FOR EACH ROW EXECUTE FUNCTION hold_messages()';
  await eventually(() => rowsOf(gateway, trigger));
  try {
    await work();
  } finally {
    await eventually(() => rowsOf(gateway, 'DROP FUNCTION IF EXISTS hold_messages() CASCADE'));
  }
}

test('a message that no gateway has tried to send is told too', async () => {
  await withoutAttempts(async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    await setAge(60);
    await reaches(held, 'delayed');
    await eventually(async () => expect(await eventsAbout(held)).toMatchObject([{ data: { reason: null } }]));
  });
});

test('a late message that failed and is sent again is not late until another minute is over', async () => {
  const held = await book(gateway, { careUnit: sodermalm });
  await failsWith('connection_refused');
  await setAge(60);
  await reaches(held, 'delayed');
  await startProvider(400);
  await rowsOf(gateway, 'UPDATE messages SET next_attempt_at = now()');
  await reaches(held, 'failed');
  const { browser } = await browserWith(gateway, 'late-again', 'operate');
  await browser.open('/console/messages');
  const [message] = await rowsOf<{ id: string }>(gateway, 'SELECT id FROM messages');
  await withoutAttempts(async () => {
    const sent = await browser.submit(`/console/messages/${message?.id}/send`);
    expect(sent.text).toContain('1 message is queued again. A running gateway sends it within seconds.');
    const { text } = await browser.open('/console/messages');
    expect(text).toMatch(/Queued Send 1 message now waiting SMS: 1 message, no attempt yet, since .*\) 0 \d/);
    expect(await deliveryOf(held)).toBe('queued');
    expect(await pageOf(held)).toContain('We are sending you the code by SMS.');
    await setAge(60);
    await reaches(held, 'delayed');
    expect((await browser.open('/console/messages')).text).toContain(
      'delayed SMS: 1 message, no attempt has ended, since',
    );
  });
  const typesOfEvents = async () => (await eventsAbout(held)).map(({ type }) => type);
  await eventually(async () =>
    expect(await typesOfEvents()).toEqual(['message.delayed', 'message.failed', 'message.delayed']),
  );
});

test('the minute of a message that is sent again begins anew', async () => {
  await startProvider(400);
  const held = await book(gateway, { careUnit: sodermalm });
  await reaches(held, 'failed');
  await setAge(600);
  await stopProvider();
  const [message] = await rowsOf<{ id: string }>(gateway, 'SELECT id FROM messages');
  expect(await sendAgain(db, message?.id ?? '')).toBe(true);
  await outbox.markDelayed();
  expect(await deliveryOf(held)).toBe('queued');
  await setAge(60);
  await reaches(held, 'delayed');
});

test('a message that is withdrawn is not late', async () => {
  const held = await book(gateway, { careUnit: sodermalm });
  await sweden.cancel(held.id);
  await setAge(60);
  expect(await outbox.markDelayed()).toBe(false);
  expect(await eventsAbout(held)).toEqual([]);
});

test('one button sends again what is still valid, and the others stay visible', async () => {
  await startProvider(400);
  const [valid, cancelled] = await bookEach(gateway, await consecutiveSlots(gateway, 2, { careUnit: sodermalm }), {
    careUnit: sodermalm,
  });
  if (!valid || !cancelled) throw new Error('Two appointments were not booked');
  for (const one of [valid, cancelled]) await reaches(one, 'failed');
  await sweden.cancel(cancelled.id);
  await stopProvider();
  await startProvider(200);
  const { browser } = await browserWith(gateway, 'again', 'operate');
  const page = await browser.open('/console/messages');
  expect(page.text).toContain(`failed SMS: 2 messages, status 400 from 127.0.0.1:${port}, since`);
  expect(page.text).toContain('Send again what is still valid: 1 message');
  expect(page.text).toContain('the code is no longer awaited');
  expect((await browser.submit('/console/messages/send-again')).text).toContain('1 message is queued again.');
  await reaches(valid, 'sent');
  const after = await browser.open('/console/messages');
  expect(after.text).toContain(`failed SMS: 1 message, status 400 from 127.0.0.1:${port}, since`);
  expect(after.text).toContain('None of them can be sent again');
  expect((await browser.submit('/console/messages/send-again')).text).toContain('Nothing was sent');
  expect((await browser.open('/console/activity')).text).toContain('again message send again all done');
});
