import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectTimeout } from '../../../test/database/database.ts';
import { type Gateway, startGateway } from '../../../test/gateway/gateway.ts';
import { book, oslo, sodermalm } from '../../../test/requests/bookings.ts';
import type { CodeMessage } from '../messages/outbox.ts';
import { openDatabase } from './database.ts';
import { createDb } from './kysely.ts';
import type { DatabaseClient, DatabasePool } from './pool.ts';

/** Takes every connection of the pool until the test ends or the returned function is called. */
async function takeAll(pool: DatabasePool, count: number): Promise<() => void> {
  const taken = await Promise.all(Array.from({ length: count }, () => pool.connect()));
  const releaseAll = () => taken.splice(0).forEach((client: DatabaseClient) => void client.release());
  onTestFinished(releaseAll);
  return releaseAll;
}

const message: CodeMessage = {
  confirmationId: randomUUID(),
  emr: 'sandbox-se',
  careUnitId: 'sodermalm',
  kind: 'booking',
  channel: 'sms',
  to: '+46700000123',
  language: 'sv',
  clinicName: 'Södermalm',
  timeZone: 'Europe/Stockholm',
  pageUrl: null,
  appointments: [{ id: 'a-1', start: new Date('2027-03-20T08:00:00Z') }],
  code: '739158',
  expiresAt: new Date(Date.now() + 600_000),
};

// PGlite has a single connection.
describe('a gateway on PostgreSQL', () => {
  let gateway: Gateway;
  let pool: DatabasePool;
  let background: DatabasePool;
  beforeAll(async () => {
    gateway = await startGateway();
    ({ pool, background } = gateway.database);
  });
  afterAll(() => gateway.close());
  const metric = async (name: string) =>
    (await gateway.deps.metrics.metrics()).split('\n').find((line) => line.startsWith(`${name} `));

  test('sends messages while requests use all of their connections', async () => {
    // All but one of the twenty connections.
    await takeAll(pool, 19);
    const { db, outbox } = gateway.deps.services;
    let last: Promise<DatabaseClient> | undefined;
    await db.transaction().execute(async (tx) => {
      await outbox.enqueue(tx, message);
      // The first in the queue for the connection that the transaction releases.
      last = pool.connect();
    });
    let client = await last;
    onTestFinished(() => client?.release());
    const outside = createDb({ pool: background });
    await expect
      .poll(async () => (await sql<{ state: string }>`SELECT state FROM messages`.execute(outside)).rows)
      .toEqual([{ state: 'sent' }]);
    expect(await metric('crossward_database_pool_waiting{pool="background"}')).toMatch(/ \d+$/);
    expect(await metric('crossward_database_pool_wait_seconds_count{pool="background"}')).toMatch(/ [1-9]\d*$/);
    const waiting = pool.connect();
    expect(await metric('crossward_database_pool_waiting{pool="requests"}')).toMatch(/ [1-9]\d*$/);
    client?.release();
    client = undefined;
    (await waiting).release();
  });

  test('serves requests while background jobs use all of their connections', async () => {
    await takeAll(background, 4);
    expect((await gateway.request('GET', `${oslo}/resources`)).status).toBe(200);
    expect(await book(gateway)).toMatchObject({ status: 'booked' });
    expect(await book(gateway, { careUnit: sodermalm, patientId: 'p-4' })).toMatchObject({
      status: 'awaiting_confirmation',
    });
  });

  test('publishes events while other background jobs use all of their connections', async () => {
    const releaseAll = await takeAll(background, 4);
    const { id } = await book(gateway);
    const isPublished = async () => {
      const { rows } = await sql`SELECT FROM events WHERE subject = ${id} AND position IS NOT NULL`.execute(
        gateway.deps.services.db,
      );
      return rows.length > 0;
    };
    await expect.poll(isPublished).toBe(true);
    releaseAll();
  });

  test('respects the configured number of connections for requests', async () => {
    const { url } = gateway.ground.testDatabase;
    const database = await openDatabase({ databaseUrl: url, dataDir: '', maxConnections: 2, connectTimeout });
    onTestFinished(() => database.close());
    const releaseAll = await takeAll(database.pool, 2);
    const third = database.pool.connect();
    expect(database.pool.waiting).toBe(1);
    releaseAll();
    (await third).release();
  });
});
