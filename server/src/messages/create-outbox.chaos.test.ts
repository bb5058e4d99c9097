import { randomBytes, randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { startLoop } from '../background/loop.ts';
import { createDb, type Db, type Tx } from '../db/kysely.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { type ClaimedMessage, claimMessages } from './claim-messages.ts';
import { createOutbox, type RunningOutbox } from './create-outbox.ts';
import { deliver } from './deliver.ts';
import { type DeliveryState, deliveryStateOf } from './delivery-state.ts';
import { createMessageMetrics } from './metrics.ts';
import type { CodeMessage } from './outbox.ts';
import { type OutgoingMessage, PermanentFailure, type Sender, type Senders, TemporaryFailure } from './sender.ts';
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
  const running = new Set<{ stop(): Promise<void> }>();

  beforeAll(async () => {
    test = await createTestDatabase(kind);
    db = createDb(test.database);
  });
  afterAll(() => test.dispose());
  beforeEach(() => {
    logged = '';
  });
  afterEach(async () => {
    await Promise.all([...running].map((it) => it.stop()));
    running.clear();
    await sql`DELETE FROM messages`.execute(db);
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

  /** An outbox that looks for messages all the time. */
  function start(senders: Senders): RunningOutbox {
    const outbox = createOutbox({ db, keys, senders, metrics: metrics(), log });
    const loop = startLoop(20, () => outbox.send().then(() => false));
    const stop = async () => {
      await loop.stop();
      await outbox.stop();
    };
    running.add({ stop });
    return { ...outbox, stop };
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
  const rows = () =>
    db
      .selectFrom('messages')
      .select(['state', 'attempts', 'next_attempt_at', 'failure_reason'])
      .orderBy('sequence')
      .execute();
  /** Waits until as many attempts have failed, and the message waits for the next one. */
  const hasFailed = (attempts: number) =>
    eventually(async () => {
      const [row] = await rows();
      expect(row).toMatchObject({ state: 'queued', attempts, failure_reason: expect.any(String) });
      return row;
    });
  const claimed = () => claimMessages(db, { channel: 'sms', limit: 8, inHand: [] }, undefined);
  /** Makes the next attempts now. */
  const retryNow = () => sql`UPDATE messages SET next_attempt_at = now() WHERE state = 'queued'`.execute(db);

  it('sends a committed message once', async () => {
    const { sent, senders } = recorder();
    const outbox = start(senders);
    expect(outbox.channels).toEqual(new Set(['sms', 'email']));
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await eventually(() => expect(sent).toHaveLength(1));
    expect(sent[0]).toMatchObject({ channel: 'sms', to: phone, appointmentId: 'a-1', emr: 'sandbox-se' });
    expect(sent[0]?.text).toContain(code);
    expect(sent[0]?.text).toContain('10 minuter');
    await settled(one.confirmationId, 'sent');
    await outbox.stop();
    expect(sent).toHaveLength(1);
    const row = await db.selectFrom('messages').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ sealed_content: null, state: 'sent', sequence: 1, care_unit_id: 'lund' });
  });

  it('sends soon what it has queued, without a look', async () => {
    const { sent, senders } = recorder();
    const outbox = createOutbox({ db, keys, senders, metrics: metrics(), log });
    running.add(outbox);
    // One that is committed late is sent with the next one.
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
    const outbox = start(senders);
    await transact((tx) => outbox.enqueue(tx, message({ channel: 'email', to: address })));
    await eventually(() => expect(sent).toHaveLength(1));
    expect(sent[0]?.subject).toContain(clinicName);
    expect(sent[0]?.subject).not.toContain(code);
  });

  it('sends no message of a transaction that was rolled back', async () => {
    const { sent, senders } = recorder();
    const outbox = start(senders);
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
    expect(await rows()).toHaveLength(1);
  });

  it('retries after temporary failures, with increasing delays', async () => {
    const { sent, senders } = recorder((_, attempt) => {
      if (attempt <= 3) throw new TemporaryFailure(`http_50${attempt}`);
    });
    const outbox = start(senders);
    const one = message();
    const clock = async () => {
      const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp() AS now`.execute(db);
      return rows[0]?.now.getTime() ?? 0;
    };
    let before = await clock();
    await transact((tx) => outbox.enqueue(tx, one));
    for (const [attempt, pause] of [
      [1, 1_000],
      [2, 2_000],
      [3, 4_000],
    ] as const) {
      const failed = await eventually(async () => {
        const [row] = await rows();
        expect(row).toMatchObject({ state: 'queued', attempts: attempt, failure_reason: `http_50${attempt}` });
        return row;
      });
      // The pause began between the two times.
      const next = failed?.next_attempt_at?.getTime() ?? 0;
      expect(next - before).toBeGreaterThanOrEqual(pause);
      expect(next - (await clock())).toBeLessThanOrEqual(2 * pause);
      before = await clock();
      await retryNow();
    }
    await settled(one.confirmationId, 'sent');
    expect(sent).toHaveLength(4);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  });

  it('waits as long as the provider requests', async () => {
    const { sent, senders } = recorder((_, attempt) => {
      if (attempt === 1) throw new TemporaryFailure('http_429', 300);
    });
    const outbox = start(senders);
    const one = message();
    const queuedAt = Date.now();
    await transact((tx) => outbox.enqueue(tx, one));
    const failed = await hasFailed(1);
    expect((failed?.next_attempt_at?.getTime() ?? 0) - queuedAt).toBeGreaterThan(299_000);
    await outbox.send();
    expect(sent).toHaveLength(1);
    await retryNow();
    await settled(one.confirmationId, 'sent');
  });

  it('fails a message that is rejected permanently, and logs it', async () => {
    const { sent, senders } = recorder(() => {
      throw new PermanentFailure('twilio_21211');
    });
    const outbox = start(senders);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await settled(one.confirmationId, 'failed');
    await outbox.stop();
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
    const outbox = start({});
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await settled(one.confirmationId, 'failed');
    expect(outbox.channels).toEqual(new Set());
  });

  it('treats an unexpected error as temporary', async () => {
    const { sent, senders } = recorder((_, attempt) => {
      if (attempt === 1) throw new Error(`cannot reach ${phone}`);
    });
    const outbox = start(senders);
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
    const outbox = start(senders);
    const old = message({ code: '111111' });
    await transact((tx) => outbox.enqueue(tx, old));
    await eventually(() => expect(sent).toHaveLength(1));
    await transact((tx) => outbox.enqueue(tx, { ...old, code: '222222' }));
    await settled(old.confirmationId, 'sent');
    blocked.resolve();
    await outbox.stop();
    expect(sent.map(({ text }) => text.includes('222222'))).toEqual([false, true]);
    const stored = await db
      .selectFrom('messages')
      .select(['sequence', 'state', 'sealed_content', 'next_attempt_at'])
      .orderBy('sequence')
      .execute();
    expect(stored).toEqual([
      { sequence: 1, state: 'superseded', sealed_content: null, next_attempt_at: null },
      { sequence: 2, state: 'sent', sealed_content: null, next_attempt_at: null },
    ]);
  });

  it('does not send a withdrawn message', async () => {
    const { sent, senders } = recorder((_, attempt) => {
      if (attempt === 1) throw new TemporaryFailure('timeout');
    });
    const outbox = start(senders);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await hasFailed(1);
    await transact((tx) => outbox.withdraw(tx, [one.confirmationId, randomUUID()]));
    await transact((tx) => outbox.withdraw(tx, []));
    await retryNow();
    await outbox.send();
    await outbox.stop();
    expect(sent).toHaveLength(1);
    expect(await stateOf(one.confirmationId)).toBe('failed');
  });

  // PGlite runs nothing beside an open transaction.
  if (kind === 'postgresql')
    it('does not send a message that is being withdrawn', async () => {
      const outbox = createOutbox({ db, keys, senders: {}, metrics: metrics(), log });
      await outbox.stop();
      const one = message();
      await transact((tx) => outbox.enqueue(tx, one));
      await transact(async (tx) => {
        await outbox.withdraw(tx, [one.confirmationId]);
        expect(await claimed()).toEqual([]);
      });
      expect(await claimed()).toEqual([]);
      expect(await stateOf(one.confirmationId)).toBe('failed');
    });

  it('does not send an expired message', async () => {
    const { sent, senders } = recorder();
    const outbox = start(senders);
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
    const outbox = start(senders);
    const one = message();
    const failure = () => db.selectFrom('messages').select('failure_reason').executeTakeFirst();
    await transact((tx) => outbox.enqueue(tx, one));
    await eventually(async () => expect(await failure()).toEqual({ failure_reason: 'certificate' }));
    await db
      .updateTable('messages')
      .set({ expires_at: new Date(0) })
      .execute();
    await eventually(async () => {
      await retryNow();
      expect(await stateOf(one.confirmationId)).toBe('failed');
    });
    expect(await failure()).toEqual({ failure_reason: 'certificate' });
    expect(logged).toMatch(/"reason":"certificate",.*"msg":"message failed"/);
  });

  it('deletes the reason of the last failure once the message is sent', async () => {
    const { senders } = recorder((_, attempt) => {
      if (attempt === 1) throw new TemporaryFailure('connection_refused');
    });
    const outbox = start(senders);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await eventually(async () => {
      await retryNow();
      expect(await stateOf(one.confirmationId)).toBe('sent');
    });
    expect(await db.selectFrom('messages').select('failure_reason').executeTakeFirst()).toEqual({
      failure_reason: null,
    });
  });

  /** Queues a message that no gateway sends, and claims it as a worker does. */
  async function claimedByOther() {
    const outbox = createOutbox({ db, keys, senders: {}, metrics: metrics(), log });
    await outbox.stop();
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    const [own] = await claimed();
    if (!own) throw new Error('It was not claimed');
    return { one, own };
  }
  const sendOwn = (senders: Senders, own: ClaimedMessage) =>
    deliver({ db, keys, senders, metrics: metrics(), log, sending: createSendingLog(log) }, own);

  it('sends the message of a worker that was killed', async () => {
    const { one } = await claimedByOther();
    // So soon that the code leaves within five seconds.
    const { rows: claims } = await sql<{ seconds: number }>`
      SELECT extract(epoch FROM next_attempt_at - created_at)::float8 AS seconds FROM messages
      WHERE next_attempt_at <= clock_timestamp() + interval '4 seconds'`.execute(db);
    expect(claims).toHaveLength(1);
    const { sent, senders } = recorder();
    start(senders);
    await settled(one.confirmationId, 'sent');
    expect(sent).toHaveLength(1);
    expect(await rows()).toMatchObject([{ attempts: 2 }]);
  });

  it('leaves a message to others if it was stopped for longer than its claim lasts', async () => {
    const { own } = await claimedByOther();
    const { sent, senders } = recorder();
    await sendOwn(senders, { ...own, claimEnds: performance.now() });
    expect(sent).toEqual([]);
    expect(await rows()).toMatchObject([{ state: 'queued', attempts: 1 }]);
  });

  it('records that a message was sent, although another worker has claimed it, and no failure', async () => {
    const { one, own } = await claimedByOther();
    await retryNow();
    const [other] = await claimed();
    expect(other).toMatchObject({ id: own.id, attempts: 2 });
    const claim = await rows();
    for (const failure of [new TemporaryFailure('http_503'), new PermanentFailure('http_400')]) {
      const { senders } = recorder(() => {
        throw failure;
      });
      await sendOwn(senders, own);
      expect(await rows()).toEqual(claim);
    }
    await sendOwn(recorder().senders, own);
    expect(await stateOf(one.confirmationId)).toBe('sent');
  });

  it('renews its claim as long as the provider takes', async () => {
    const blocked = Promise.withResolvers<void>();
    const { sent, senders } = recorder(() => blocked.promise);
    const outbox = start(senders);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await eventually(() => expect(sent).toHaveLength(1));
    const [first] = await rows();
    // For longer than a claim lasts that nobody renews.
    await eventually(async () => {
      const [row] = await rows();
      const renewed = (row?.next_attempt_at?.getTime() ?? 0) - (first?.next_attempt_at?.getTime() ?? 0);
      expect(renewed).toBeGreaterThan(4_000);
    });
    blocked.resolve();
    await settled(one.confirmationId, 'sent');
    expect(sent).toHaveLength(1);
    expect(await rows()).toMatchObject([{ attempts: 1 }]);
  });

  it('several gateways can start at once and share the messages', async () => {
    const { sent, senders } = recorder();
    const outboxes = Array.from({ length: 4 }, () => start(senders));
    const all = Array.from({ length: 40 }, () => message());
    await Promise.all(all.map((one, index) => transact(async (tx) => outboxes[index % 4]?.enqueue(tx, one))));
    await eventually(() => expect(sent.length).toBeGreaterThanOrEqual(40));
    await eventually(async () => {
      const states = await statesOf(all.map(({ confirmationId }) => confirmationId));
      expect(states).toEqual(all.map(() => 'sent'));
    });
    await Promise.all(outboxes.map((outbox) => outbox.stop()));
    expect(new Set(sent.map(({ id }) => id)).size).toBe(40);
    expect(sent).toHaveLength(40);
  });

  it('finishes sending before it stops', async () => {
    const blocked = Promise.withResolvers<void>();
    const { sent, senders } = recorder(() => blocked.promise);
    const outbox = start(senders);
    const one = message();
    await transact((tx) => outbox.enqueue(tx, one));
    await eventually(() => expect(sent).toHaveLength(1));
    const stopped = outbox.stop();
    blocked.resolve();
    await stopped;
    expect(await stateOf(one.confirmationId)).toBe('sent');
  });

  it('stores no personal data in plain-text columns or logs', async () => {
    let fails = true;
    const { sent, senders } = recorder((_, attempt) => {
      if (!fails) return;
      if (attempt % 2 === 1) throw new TemporaryFailure('timeout');
      throw new Error(`${phone} ${address} ${code}`);
    });
    const outbox = start(senders);
    const sms = message();
    const email = message({ channel: 'email', to: address });
    await transact(async (tx) => {
      await outbox.enqueue(tx, sms);
      await outbox.enqueue(tx, email);
    });
    await eventually(async () => {
      // One has failed, and one has no reason.
      expect(await rows()).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
      expect(sent).toHaveLength(2);
      expect((await rows()).filter((row) => row.failure_reason === 'timeout')).toHaveLength(1);
    });
    const tables = await sql<{ name: string }>`
      SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`.execute(db);
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
    await retryNow();
    await settled(sms.confirmationId, 'sent');
    await settled(email.confirmationId, 'sent');
    expect(logged).not.toContain(code);
  });
});
