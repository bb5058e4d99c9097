import { randomBytes, randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { sql } from 'kysely';
import { PgBoss } from 'pg-boss';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { createDb, type Db, type Tx } from '../db/kysely.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { createOutbox, type RunningOutbox } from './create-outbox.ts';
import { deliver } from './deliver.ts';
import { type DeliveryState, deliveryStateOf } from './delivery-state.ts';
import { jobDatabase } from './job-database.ts';
import { createMessageMetrics } from './metrics.ts';
import type { CodeMessage } from './outbox.ts';
import { queueNames } from './queues.ts';
import { type OutgoingMessage, PermanentFailure, type Sender, TemporaryFailure } from './sender.ts';
import { createSendingLog } from './sending-log.ts';

const keys = createKeyRing([randomBytes(32)]);
const phone = '+46700000123';
const address = 'anna.canary@example.org';
const code = '739158';
const clinicName = 'Kanariekliniken';

const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 120_000, interval: 5 });

describe.each(['postgresql', 'pglite'] as const)('outbox on %s', (kind) => {
  let test: TestDatabase;
  let db: Db;
  let logged: string;
  const running = new Set<RunningOutbox>();

  // Creating pg-boss's schema takes longest, and only the first test does it.
  beforeAll(async () => {
    test = await createTestDatabase(kind);
    db = createDb(test.database);
  });
  afterAll(() => test.dispose());
  beforeEach(() => {
    logged = '';
  });
  afterEach(async () => {
    await Promise.all([...running].map((outbox) => outbox.stop()));
    running.clear();
    await sql`DELETE FROM messages`.execute(db);
    await sql`DELETE FROM pgboss.job`.execute(db);
  });

  const log = pino(
    { level: 'trace' },
    new Writable({
      write(chunk, _encoding, done) {
        logged += chunk;
        done();
      },
    }),
  );

  function recorder(response: (message: OutgoingMessage, attempt: number) => void | Promise<void> = () => undefined) {
    const sent: OutgoingMessage[] = [];
    const sender: Sender = {
      async send(message) {
        sent.push(message);
        await response(message, sent.length);
      },
    };
    return { sent, senders: { sms: sender, email: sender } };
  }

  const metrics = () => createMessageMetrics(new Registry(), db);

  async function start(senders: { sms?: Sender; email?: Sender }, options: { polling?: boolean; poll?: number } = {}) {
    // pg-boss polls at most twice per second.
    const pace = { poll: options.poll ?? 0.5, supervision: 2 };
    const database = options.polling ? { ...test.database, connectToListen: undefined } : test.database;
    const outbox = createOutbox({
      database,
      db,
      keys,
      senders,
      metrics: metrics(),
      log,
      pace,
    });
    running.add(outbox);
    await outbox.start();
    return outbox;
  }

  function message(changes: Partial<CodeMessage> & { seconds?: number } = {}): CodeMessage {
    const { seconds = 600, ...rest } = changes;
    return {
      confirmationId: randomUUID(),
      emr: 'sandbox-se',
      careUnitId: 'lund',
      kind: 'booking',
      channel: 'sms',
      to: phone,
      language: 'sv',
      clinicName,
      timeZone: 'Europe/Stockholm',
      pageUrl: null,
      appointments: [
        { id: 'a-1', start: new Date('2026-03-20T08:00:00Z') },
        { id: 'a-2', start: new Date('2026-03-20T08:30:00Z') },
      ],
      code,
      expiresAt: new Date(Date.now() + seconds * 1000),
      ...rest,
    };
  }
  const transact = <T>(run: (tx: Tx) => Promise<T>) => db.transaction().execute(run);
  const statesOf = async (ids: readonly string[]): Promise<(DeliveryState | undefined)[]> => {
    const { rows } = await sql<{ state: DeliveryState | null }>`
      SELECT ${deliveryStateOf('asked.id')} AS state FROM unnest(${[...ids]}::uuid[]) AS asked (id)`.execute(db);
    return rows.map(({ state }) => state ?? undefined);
  };
  const stateOf = async (id: string) => (await statesOf([id]))[0];
  const settled = (id: string, state: string) => eventually(async () => expect(await stateOf(id)).toBe(state));
  const jobs = async () =>
    (
      await sql<{ state: string; started_on: Date; start_after: Date; retry_count: number; output: unknown }>`
        SELECT state, started_on, start_after, retry_count, output FROM pgboss.job
        WHERE name = ANY (${queueNames}::text[])`.execute(db)
    ).rows;
  const allJobsDone = () =>
    eventually(async () => expect((await jobs()).map(({ state }) => state)).not.toContain('active'));
  /** Runs delayed retries now. */
  const runRetriesNow = () => sql`UPDATE pgboss.job SET start_after = now() WHERE state = 'retry'`.execute(db);

  it('sends a committed message once', async () => {
    const { sent, senders } = recorder();
    const outbox = await start(senders);
    expect(outbox.channels).toEqual(new Set(['sms', 'email']));
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await eventually(() => expect(sent).toHaveLength(1));
    expect(sent[0]).toMatchObject({ channel: 'sms', to: phone, appointmentId: 'a-1', emr: 'sandbox-se' });
    expect(sent[0]?.text).toContain(code);
    expect(sent[0]?.text).toContain('10 minuter');
    await settled(one.confirmationId, 'sent');
    await allJobsDone();
    expect(sent).toHaveLength(1);
    const row = await db.selectFrom('messages').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ sealed_content: null, state: 'sent', sequence: 1, care_unit_id: 'lund' });
  });

  it('sends without waiting for a poll', async () => {
    const { sent, senders } = recorder();
    const outbox = await start(senders, { poll: 600 });
    // A message without a listener is sent with the next one.
    await vi.waitFor(
      async () => {
        await transact((tx) => outbox.enqueue(tx, message()));
        expect(sent.length).toBeGreaterThanOrEqual(3);
      },
      { timeout: 60_000, interval: 50 },
    );
  });

  it('sends e-mail with a subject that does not contain the code', async () => {
    const { sent, senders } = recorder();
    const outbox = await start(senders);
    await transact((tx) => outbox.enqueue(tx, message({ channel: 'email', to: address })));
    await eventually(() => expect(sent).toHaveLength(1));
    expect(sent[0]?.subject).toContain(clinicName);
    expect(sent[0]?.subject).not.toContain(code);
  });

  if (kind === 'postgresql')
    it('listens again after its connection was lost', async () => {
      const { sent, senders } = recorder();
      const outbox = await start(senders);
      const listening = async () => {
        const { rows } = await sql<{ pid: number }>`
        SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'crossward notifications' AND query LIKE 'LISTEN%'
          AND state = 'idle'`.execute(db);
        return rows[0]?.pid;
      };
      const first = await eventually(async () => {
        const pid = await listening();
        expect(pid).toBeDefined();
        return pid;
      });
      await sql`SELECT pg_terminate_backend(${first})`.execute(db);
      await transact((tx) => outbox.enqueue(tx, message()));
      await eventually(() => expect(sent).toHaveLength(1));
      await eventually(async () => expect([undefined, first]).not.toContain(await listening()));
    });

  it('also finds messages by polling', async () => {
    const { sent, senders } = recorder();
    const outbox = await start(senders, { polling: true });
    await transact((tx) => outbox.enqueue(tx, message()));
    await eventually(() => expect(sent).toHaveLength(1));
  });

  it('sends no message of a transaction that was rolled back', async () => {
    const { sent, senders } = recorder();
    const outbox = await start(senders);
    const gone = message();
    const rollback = transact(async (tx) => {
      await outbox.enqueue(tx, gone);
      throw new Error('rolled back');
    });
    await expect(rollback).rejects.toThrow('rolled back');
    const kept = message();
    await transact((tx) => outbox.enqueue(tx, kept));
    await settled(kept.confirmationId, 'sent');
    expect(sent).toHaveLength(1);
    expect(await stateOf(gone.confirmationId)).toBeUndefined();
    expect(await jobs()).toHaveLength(1);
  });

  it('retries after temporary failures, with increasing delays', async () => {
    const { sent, senders } = recorder((_, attempt) => {
      if (attempt <= 3) throw new TemporaryFailure('http_503');
    });
    const outbox = await start(senders);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    // The delay starts between the start of the attempt and now, however long the query took.
    const delays: number[] = [];
    for (let attempt = 1; attempt <= 3; attempt++) {
      await eventually(() => expect(sent).toHaveLength(attempt));
      await allJobsDone();
      expect(await stateOf(one.confirmationId)).toBe('queued');
      const [job] = await jobs();
      const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp() AS now`.execute(db);
      const since = attempt === 1 ? rows[0]?.now : job?.started_on;
      delays.push((job?.start_after.getTime() ?? 0) - (since?.getTime() ?? 0));
      expect(JSON.stringify(job?.output)).toContain('NotDelivered');
      await runRetriesNow();
    }
    await settled(one.confirmationId, 'sent');
    expect(sent).toHaveLength(4);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    const [first = 0, second = 0, third = 0] = delays;
    expect(first).toBeLessThan(2_100);
    expect(second).toBeGreaterThan(1_000);
    expect(third).toBeGreaterThan(3_000);
  });

  it('waits as long as the provider requests', async () => {
    const { sent, senders } = recorder((_, attempt) => {
      if (attempt === 1) throw new TemporaryFailure('http_429', 300);
    });
    const outbox = await start(senders);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await eventually(async () => expect((await jobs())[0]).toMatchObject({ state: 'retry', retry_count: 0 }));
    await runRetriesNow();
    await eventually(async () => expect((await jobs())[0]).toMatchObject({ state: 'retry', retry_count: 1 }));
    expect(sent).toHaveLength(1);
    await db
      .updateTable('messages')
      .set({ not_before: new Date(0) })
      .execute();
    await runRetriesNow();
    await settled(one.confirmationId, 'sent');
  });

  it('fails a message that is rejected permanently, and logs it', async () => {
    const { sent, senders } = recorder(() => {
      throw new PermanentFailure('twilio_21211');
    });
    const outbox = await start(senders);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await settled(one.confirmationId, 'failed');
    await allJobsDone();
    expect(sent).toHaveLength(1);
    expect(logged).toContain('twilio_21211');
    // The content stays encrypted for a resend by an operator.
    expect(await db.selectFrom('messages').select(['sealed_content', 'failure_reason']).executeTakeFirst()).toEqual({
      sealed_content: expect.any(Buffer),
      failure_reason: 'twilio_21211',
    });
    await transact((tx) => outbox.withdraw(tx, [one.confirmationId]));
    expect(await db.selectFrom('messages').select('sealed_content').executeTakeFirst()).toEqual({
      sealed_content: null,
    });
    expect(await stateOf(one.confirmationId)).toBe('failed');
  });

  it('fails a message if no sender is configured', async () => {
    const outbox = await start({});
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await settled(one.confirmationId, 'failed');
    expect(outbox.channels).toEqual(new Set());
  });

  it('treats an unexpected error as temporary', async () => {
    const { sent, senders } = recorder((_, attempt) => {
      if (attempt === 1) throw new Error(`cannot reach ${phone}`);
    });
    const outbox = await start(senders);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await settled(one.confirmationId, 'sent');
    expect(sent).toHaveLength(2);
  });

  it('sends only the newest message of a confirmation', async () => {
    const blocked = Promise.withResolvers<void>();
    const { sent, senders } = recorder(async (_, attempt) => {
      if (attempt > 1) return;
      await blocked.promise;
      throw new TemporaryFailure('timeout');
    });
    const outbox = await start(senders);
    const old = message({ code: '111111' });
    await transact((tx) => outbox.enqueue(tx, old));
    await eventually(() => expect(sent).toHaveLength(1));
    await transact((tx) => outbox.enqueue(tx, { ...old, code: '222222' }));
    await settled(old.confirmationId, 'sent');
    blocked.resolve();
    await allJobsDone();
    await runRetriesNow();
    await eventually(async () => expect((await jobs()).every(({ state }) => state === 'completed')).toBe(true));
    expect(sent.map(({ text }) => text.includes('222222'))).toEqual([false, true]);
    const rows = await db
      .selectFrom('messages')
      .select(['sequence', 'state', 'sealed_content'])
      .orderBy('sequence')
      .execute();
    expect(rows).toEqual([
      { sequence: 1, state: 'superseded', sealed_content: null },
      { sequence: 2, state: 'sent', sealed_content: null },
    ]);
  });

  it('does not send a withdrawn message', async () => {
    const { sent, senders } = recorder((_, attempt) => {
      if (attempt === 1) throw new TemporaryFailure('timeout');
    });
    const outbox = await start(senders);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await eventually(async () => expect((await jobs())[0]?.state).toBe('retry'));
    await transact((tx) => outbox.withdraw(tx, [one.confirmationId, randomUUID()]));
    await transact((tx) => outbox.withdraw(tx, []));
    await runRetriesNow();
    await eventually(async () => expect((await jobs())[0]?.state).toBe('completed'));
    expect(sent).toHaveLength(1);
    expect(await stateOf(one.confirmationId)).toBe('failed');
  });

  // PGlite runs nothing beside an open transaction.
  if (kind === 'postgresql')
    it('does not send a message that is being withdrawn', async () => {
      const first = recorder(() => {
        throw new TemporaryFailure('timeout');
      });
      const outbox = await start(first.senders);
      const one = message();
      await transact((tx) => outbox.enqueue(tx, one));
      await eventually(async () => expect((await jobs())[0]?.state).toBe('retry'));
      await outbox.stop();
      const { id } = await db.selectFrom('messages').select('id').executeTakeFirstOrThrow();
      const { sent, senders } = recorder();
      let delivered: Promise<void> | undefined;
      await transact(async (tx) => {
        await outbox.withdraw(tx, [one.confirmationId]);
        delivered = deliver({ db, keys, senders, metrics: metrics(), log, sending: createSendingLog(log) }, id);
        await eventually(async () => {
          const { rows } = await sql<{ pid: number }>`
          SELECT pid FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%messages%'`.execute(db);
          expect(rows.length + sent.length).toBe(1);
        });
      });
      await delivered;
      expect(sent).toEqual([]);
      expect(await stateOf(one.confirmationId)).toBe('failed');
    });

  it('does not send an expired message', async () => {
    const { sent, senders } = recorder();
    const outbox = await start(senders);
    const one = message({ seconds: -1 });
    await transact((tx) => outbox.enqueue(tx, one));
    await settled(one.confirmationId, 'failed');
    expect(sent).toHaveLength(0);
    expect(await db.selectFrom('messages').select('sealed_content').executeTakeFirst()).toEqual({
      sealed_content: null,
    });
  });

  it('keeps the reason of the last failure when a message expires', async () => {
    const { senders } = recorder(() => {
      throw new TemporaryFailure('certificate');
    });
    const outbox = await start(senders);
    const one = message();
    const failure = () => db.selectFrom('messages').select('failure_reason').executeTakeFirst();
    await transact((tx) => outbox.enqueue(tx, one));
    await eventually(async () => expect(await failure()).toEqual({ failure_reason: 'certificate' }));
    await db
      .updateTable('messages')
      .set({ expires_at: new Date(0) })
      .execute();
    await eventually(async () => {
      await runRetriesNow();
      expect(await stateOf(one.confirmationId)).toBe('failed');
    });
    expect(await failure()).toEqual({ failure_reason: 'certificate' });
    expect(logged).toMatch(/"reason":"certificate",.*"msg":"message failed"/);
  });

  it('deletes the reason of the last failure once the message is sent', async () => {
    const { senders } = recorder((_, attempt) => {
      if (attempt === 1) throw new TemporaryFailure('connection_refused');
    });
    const outbox = await start(senders);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await eventually(async () => {
      await runRetriesNow();
      expect(await stateOf(one.confirmationId)).toBe('sent');
    });
    expect(await db.selectFrom('messages').select('failure_reason').executeTakeFirst()).toEqual({
      failure_reason: null,
    });
  });

  it('sends the message of a worker that was killed', async () => {
    const first = recorder();
    const outbox = await start(first.senders);
    await outbox.stop();
    running.delete(outbox);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    // A worker that takes the job and never finishes it.
    const killed = new PgBoss({
      db: jobDatabase({ ...test.database, connectToListen: undefined }),
      supervise: false,
      schedule: false,
    });
    await killed.start();
    expect(await killed.fetch('messages')).toHaveLength(1);
    await killed.stop({ close: false });
    if (kind === 'postgresql') {
      // The time-out of the job is twenty seconds.
      await sql`UPDATE pgboss.job SET started_on = started_on - interval '20 seconds'`.execute(db);
    }
    const { sent, senders } = recorder();
    await start(senders);
    await settled(one.confirmationId, 'sent');
    expect(sent).toHaveLength(1);
    expect(first.sent).toHaveLength(0);
  });

  it('several gateways can start at once and share the messages', async () => {
    await sql`DROP SCHEMA pgboss CASCADE`.execute(db);
    const { sent, senders } = recorder();
    const outboxes = await Promise.all(Array.from({ length: 4 }, () => start(senders)));
    const all = Array.from({ length: 40 }, () => message());
    await Promise.all(all.map((one, index) => transact(async (tx) => outboxes[index % 4]?.enqueue(tx, one))));
    await eventually(() => expect(sent.length).toBeGreaterThanOrEqual(40));
    await eventually(async () => {
      const states = await statesOf(all.map(({ confirmationId }) => confirmationId));
      expect(states).toEqual(all.map(() => 'sent'));
    });
    await allJobsDone();
    expect(new Set(sent.map(({ id }) => id)).size).toBe(40);
    expect(sent).toHaveLength(40);
  });

  it('finishes sending before it stops', async () => {
    const blocked = Promise.withResolvers<void>();
    const { sent, senders } = recorder(() => blocked.promise);
    const outbox = await start(senders);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await eventually(() => expect(sent).toHaveLength(1));
    const stopped = outbox.stop();
    blocked.resolve();
    await stopped;
    expect(await stateOf(one.confirmationId)).toBe('sent');
  });

  it('cannot be used before it has started', async () => {
    const outbox = createOutbox({ database: test.database, db, keys, senders: {}, metrics: metrics(), log });
    await expect(transact((tx) => outbox.enqueue(tx, message()))).rejects.toThrow('not been started');
  });

  it('stores no personal data in plain-text columns or logs', async () => {
    let fails = true;
    const { senders } = recorder((_, attempt) => {
      if (!fails) return;
      if (attempt % 2 === 1) throw new TemporaryFailure('timeout');
      throw new Error(`${phone} ${address} ${code}`);
    });
    const outbox = await start(senders);
    const sms = message();
    const email = message({ channel: 'email', to: address });
    await transact(async (tx) => {
      await outbox.enqueue(tx, sms);
      await outbox.enqueue(tx, email);
    });
    await eventually(async () => expect((await jobs()).map(({ state }) => state)).toEqual(['retry', 'retry']));
    const tables = await sql<{ name: string }>`
      SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
      WHERE table_schema IN ('public', 'pgboss') AND table_type = 'BASE TABLE'`.execute(db);
    expect(tables.rows.length).toBeGreaterThan(5);
    let content = '';
    for (const { name } of tables.rows) {
      const { rows } = await sql<{ row: string }>`SELECT t::text AS row FROM ${sql.raw(name)} t`.execute(db);
      content += rows.map(({ row }) => row).join('\n');
    }
    expect(content).toContain(sms.confirmationId);
    for (const canary of [phone, address, code, clinicName]) {
      expect(content).not.toContain(canary);
      expect(content).not.toContain(Buffer.from(canary).toString('hex'));
      expect(logged).not.toContain(canary);
    }
    fails = false;
    await runRetriesNow();
    await settled(sms.confirmationId, 'sent');
    await settled(email.confirmationId, 'sent');
    expect(logged).not.toContain(code);
  });
});
