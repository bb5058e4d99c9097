import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { type ProxiedGateway, startProxiedGateway } from '../../../test/postgres-proxy/proxied-gateway.ts';
import type { Matches, Way } from '../../../test/postgres-proxy/ways.ts';
import { startChild } from '../../../test/processes/child-gateway.ts';
import { writeQuickDemo } from '../../../test/processes/quick-demo.ts';
import { book, sodermalm } from '../../../test/requests/bookings.ts';
import { confirmationOf, eventually, rowsOf } from '../../../test/requests/codes.ts';
import { Secret } from '../config/environment/secret.ts';
import { createDb } from '../db/kysely.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { createOutbox } from './create-outbox.ts';
import { createMessageMetrics } from './metrics.ts';

/** The ids of the messages that the provider got, and what it does with them. */
let taken: string[] = [];
let answer = (response: ServerResponse): unknown => response.writeHead(200).end();
const provider = createServer((request, response) => {
  request.resume();
  taken.push(String(request.headers['webhook-id']));
  answer(response);
});
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/sms`;
beforeEach(() => {
  taken = [];
  answer = (response) => response.writeHead(200).end();
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

describe('a code whose statement loses its connection leaves once', () => {
  let gateway: ProxiedGateway;
  beforeAll(async () => {
    gateway = await startProxiedGateway({
      configure: (demo) => ({
        ...demo,
        messages: { ...demo.messages, sms: { provider: 'webhook', url, secret: new Secret('a secret of the tests') } },
      }),
    });
  });
  afterAll(() => gateway.close());

  const statement =
    (text: RegExp): Matches =>
    ({ kind, statements }) =>
      kind !== 'part' && statements.some((it) => text.test(it));
  const claim = statement(/UPDATE messages SET attempts/);
  const end = statement(/update "messages" set "state" = \$1/);
  const ways: readonly Way[] = [
    { kind: 'before' },
    { kind: 'after' },
    { kind: 'in request' },
    { kind: 'in answer' },
    { kind: 'silent' },
    { kind: 'late', holdMilliseconds: 1_000 },
    { kind: 'delay', holdMilliseconds: 1_000 },
  ];

  test.each(
    ways.flatMap((way) => [
      { way, what: 'claim', matches: claim },
      { way, what: 'end', matches: end },
    ]),
  )('$way.kind its $what', async ({ way, matches }) => {
    const cut = gateway.proxy.cutNext(way, matches);
    const held = await book(gateway, { careUnit: sodermalm });
    await cut.settled;
    const row = async () => {
      const sent = "SELECT id FROM messages WHERE confirmation_id = $1 AND state = 'sent'";
      const [found] = await rowsOf<{ id: string }>(gateway, sent, [confirmationOf(held).id]);
      return found ?? expect.unreachable('It is not sent');
    };
    const { id } = await eventually(row);
    expect(taken.filter((it) => it === id)).toHaveLength(1);
    await gateway.proxy.heal();
  });
});

test('the code of a gateway that is killed while it sends it leaves through another one when its claim expires', async () => {
  const folder = await mkdtemp(join(inject('runFolder'), 'killed-'));
  const more = { messages: { sms: { provider: 'webhook', url, secret: { env: 'SMS_SECRET' } } } };
  const { client, variables } = await writeQuickDemo(folder, more);
  const setup = { client, variables: { ...variables, SMS_SECRET: 'a secret of the tests' } };
  const { database, url: databaseUrl, dispose } = await createTestDatabase('postgresql');
  onTestFinished(dispose);
  const start = async (name: string) => {
    const gateway = await startChild({ dataDir: join(folder, name), databaseUrl, setup });
    onTestFinished(() => gateway.kill());
    return gateway;
  };
  const db = createDb(database);
  const read = async () => {
    const { rows } = await sql<{ state: string; attempts: number; secondsLeft: number }>`
      SELECT state, attempts, extract(epoch FROM next_attempt_at - clock_timestamp())::float8 AS "secondsLeft"
      FROM messages`.execute(db);
    return rows[0] ?? expect.unreachable();
  };
  const first = await start('first');
  // It does not answer.
  answer = () => undefined;
  const outbox = createOutbox({
    db,
    keys: createKeyRing([Buffer.from(variables.CROSSWARD_SECRET_KEY ?? '', 'base64')]),
    senders: {},
    metrics: createMessageMetrics(new Registry(), db),
    log: pino({ level: 'silent' }),
  });
  await outbox.stop();
  await db.transaction().execute((tx) =>
    outbox.enqueue(tx, {
      confirmationId: randomUUID(),
      emr: 'sandbox-se',
      careUnitId: 'sodermalm',
      kind: 'booking',
      channel: 'sms',
      to: '+46700000123',
      language: 'sv',
      clinicName: 'Södermalms vårdcentral',
      timeZone: 'Europe/Stockholm',
      pageUrl: null,
      appointments: [{ id: 'a-1', start: new Date('2035-03-20T08:00:00Z') }],
      code: '739158',
      expiresAt: new Date(Date.now() + 3_600_000),
    }),
  );
  await eventually(() => expect(taken).toHaveLength(1));
  await start('second');
  expect(await read()).toMatchObject({ state: 'queued' });
  answer = (response) => response.writeHead(200).end();
  await first.kill();
  const killed = await read();
  // A look, twice a second, finds it then: within five seconds.
  expect(killed.state).toBe('queued');
  expect(killed.secondsLeft).toBeLessThanOrEqual(4);
  const { attempts } = await eventually(async () => {
    const row = await read();
    expect(row.state).toBe('sent');
    return row;
  });
  expect(attempts).toBeGreaterThan(killed.attempts);
  expect(taken).toHaveLength(attempts);
  expect(new Set(taken).size).toBe(1);
});
