import { randomBytes, randomUUID } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { addDemoMailboxRoutes } from '../http/demo/mailbox-routes.ts';
import { addErrorHandler } from '../http/protocol/error-handler.ts';
import { trackMethods } from '../http/routes/method-not-allowed.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { type DemoMailbox, demoMailbox } from './providers/demo-mailbox.ts';
import { inGoodTime, outgoing } from './providers/test-support.ts';

let test: TestDatabase;
let db: Db;
let mailbox: DemoMailbox;
let app: FastifyInstance;
let printed = '';

beforeAll(async () => {
  test = await createTestDatabase();
  db = createDb(test.database);
  const keys = createKeyRing([randomBytes(32)]);
  mailbox = demoMailbox({
    db,
    keys,
    print(text) {
      printed += text;
    },
  });
  app = Fastify();
  addErrorHandler(app, trackMethods(app));
  await addDemoMailboxRoutes(app, mailbox);
});
afterAll(async () => {
  await app.close();
  await test.dispose();
});

const get = (headers: Record<string, string>) =>
  app.inject({ method: 'GET', url: '/demo/messages', headers: { host: '127.0.0.1:8080', ...headers } });

it('delivers once, prints the message and lists the newest first', async () => {
  expect((await get({ accept: 'text/html' })).body).toContain('No messages yet');
  const sms = outgoing();
  await mailbox.send(sms, inGoodTime());
  await mailbox.send(sms, inGoodTime());
  const text = 'Code <b>123456</b>\u001b[2J\n\nBye\n';
  await mailbox.send(
    outgoing({ channel: 'email', to: '"><script>@x', subject: 'Bekräfta <i>', text, appointmentId: 'a-2' }),
    inGoodTime(),
  );
  expect(printed.match(/739158/g)).toHaveLength(1);
  expect(printed).toMatch(/^\[demo mailbox\] SMS to \+46700000123\n/);
  expect(printed).not.toContain('\u001b');

  const json = await get({ accept: 'application/json' });
  expect(json.headers['content-type']).toMatch(/^application\/json/);
  expect(json.json()).toEqual({
    messages: [
      { channel: 'email', to: '"><script>@x', text, appointment_id: 'a-2', sent_at: expect.stringMatching(/Z$/) },
      { channel: 'sms', to: sms.to, text: sms.text, appointment_id: 'a-1', sent_at: expect.stringMatching(/Z$/) },
    ],
  });

  const page = await get({ accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' });
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.body).toContain('Använd koden 739158');
  expect(page.body).toContain('Bekräfta &lt;i&gt;');
  expect(page.body).not.toMatch(/<script|<b>|<i>/);
});

it.each([
  [undefined, 'text/html'],
  ['*/*', 'text/html'],
  ['text/html;q=0.5, application/json', 'application/json'],
  ['application/json;q=0.5, text/html', 'text/html'],
  ['application/json;q=0', 'text/html'],
  ['Application/JSON, text/plain, */*', 'application/json'],
])('responds to %j with %s', async (accept, type) => {
  expect((await get(accept === undefined ? {} : { accept })).headers['content-type']).toContain(type);
});

it.each(['localhost', 'LocalHost:1', '127.0.0.1', '127.9.8.7:8080', '[::1]', '[::1]:8080'])(
  'exists under %s',
  async (host) => {
    expect((await get({ host })).statusCode).toBe(200);
  },
);

it.each([
  'example.org',
  'localhost.example.org',
  '127.0.0.1.nip.io',
  '192.168.1.2:8080',
  '[::2]',
  '::1',
  '0.0.0.0',
  'a@localhost',
])('does not exist under %j', async (host) => {
  const response = await get({ host });
  expect(response.statusCode).toBe(404);
  expect(response.json()).toMatchObject({ reason: 'route_not_found' });
});

it('keeps messages for a day, encrypted', async () => {
  await sql`UPDATE demo_mailbox SET sent_at = sent_at - interval '25 hours'`.execute(db);
  await mailbox.send(outgoing({ id: randomUUID(), text: 'Koden är 555444' }), inGoodTime());
  expect(await mailbox.messages()).toHaveLength(1);
  const { rows } = await sql<{ row: string }>`SELECT t::text AS row FROM demo_mailbox t`.execute(db);
  expect(rows).toHaveLength(1);
  expect(rows[0]?.row).not.toMatch(/555444|46700000123/);
});
