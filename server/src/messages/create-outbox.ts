import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { fromKysely, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { isUniqueViolation } from '../db/errors.ts';
import type { Db, Tx } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { sealContent } from './content.ts';
import { markDelayed } from './delayed.ts';
import { deliver, NotDelivered } from './deliver.ts';
import { errorLog } from './error-log.ts';
import { isQueuedAgain } from './failed.ts';
import { jobDatabase } from './job-database.ts';
import type { MessageMetrics } from './metrics.ts';
import type { CodeMessage, Outbox } from './outbox.ts';
import { queueNames, queues } from './queues.ts';
import type { ReceiptUrls } from './receipt-urls.ts';
import type { Senders } from './sender.ts';
import { createSendingLog } from './sending-log.ts';

/** Seconds. The job of a killed worker is retried after `expiry`, at the next supervision. */
const expiry = 20;
/** As slow as they may be, since `poll` does both while messages are queued. */
const usualPace = { poll: 60, supervision: 60 };
/** Seconds between two checks for jobs of killed workers while messages are queued. */
const supervision = 5;
const stopTimeout = 20_000;
/** Seconds between two attempts. */
const longestPause = 60;

const queueSettings = {
  notify: true,
  expireInSeconds: expiry,
  // Pauses of 1–2 s, 2–4 s, … up to a minute or `NotDelivered.mostPause`, until the message expires.
  retryLimit: 1_000_000,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: longestPause,
  deleteAfterSeconds: 3_600,
};

export interface RunningOutbox extends Outbox {
  /** Channels with a configured sender. */
  readonly channels: ReadonlySet<Channel>;
  /** Must be called before `enqueue`. Creates or updates pg-boss's schema. Several gateways may start concurrently. */
  start(): Promise<void>;
  /** Waits for messages that are being sent. Must be called before the database is closed. */
  stop(): Promise<void>;
}

const channels = Object.keys(queues) as Channel[];

type JobDatabase = ReturnType<typeof jobDatabase>;

interface Dependencies {
  readonly database: Database;
  /** Uses the pool for background jobs. */
  readonly db: Db;
  readonly keys: KeyRing;
  readonly senders: Senders;
  readonly metrics: MessageMetrics;
  /** Where providers report what becomes of a message. Absent: they are not asked to. */
  readonly receiptUrls?: ReceiptUrls | undefined;
  readonly log: Logger;
  /** Seconds between pg-boss's own polls for messages, and its own checks for jobs of killed workers (at least 2). */
  readonly pace?: { readonly poll: number; readonly supervision: number };
}

/**
 * Messages are stored, encrypted, in the table `messages`; pg-boss schedules the attempts. Several gateways share the work.
 * Delivery is at least once: a message is sent twice if the gateway is killed, or the response lost, after the provider
 * has accepted it.
 */
export function createOutbox(dependencies: Dependencies): RunningOutbox {
  const { database, db, keys, senders, metrics, receiptUrls, log, pace = usualPace } = dependencies;
  const embedded = database.kind === 'pglite';
  const jobs = jobDatabase(database);
  const boss = new PgBoss({
    db: jobs,
    backend: embedded ? 'pglite' : 'postgres',
    schedule: false,
    useListenNotify: jobs.listen !== undefined,
    // On PGlite there are no other processes whose jobs need supervision.
    superviseIntervalSeconds: embedded ? 60 : pace.supervision,
    monitorIntervalSeconds: embedded ? 60 : Math.min(pace.supervision, supervision) - 1,
    maintenanceIntervalSeconds: 600,
    flowIntervalSeconds: 3_600,
  });
  boss.on('error', errorLog(log));
  boss.on('warning', ({ message }) => log.warn({ warning: message }, 'pg-boss warning'));

  const sending = createSendingLog(log);
  const workers: string[] = [];
  let supervisedAt = Number.NEGATIVE_INFINITY;
  let started = false;

  async function startWorkers(channel: Channel): Promise<void> {
    const queue = queues[channel];
    await boss.createQueue(queue, queueSettings);
    await boss.updateQueue(queue, queueSettings);
    if (embedded) await requeueOrphans(boss, jobs, queue);
    // Fills pg-boss's cache of queues, which it would otherwise fill during the first caller's transaction.
    await boss.findJobs(queue, { id: randomUUID() });
    const polls = { pollingIntervalSeconds: pace.poll, notifyPollingIntervalSeconds: pace.poll };
    // One by one, because each has the id by which it is woken.
    for (let n = 0; n < (embedded ? 4 : 8); n++) {
      const worker = await boss.work<{ messageId: string }>(queue, polls, async ([job]) => {
        if (!job) return;
        try {
          await deliver({ db, keys, senders, metrics, receiptUrls, log, sending }, job.data.messageId);
        } catch (error) {
          if (error instanceof NotDelivered) await limitPause(jobs, job.id, error);
          throw error;
        }
      });
      workers.push(worker);
    }
  }

  return {
    channels: new Set(channels.filter((channel) => senders[channel])),
    async start() {
      await startBoss(boss);
      for (const channel of channels) await startWorkers(channel);
      started = true;
    },
    async stop() {
      await boss.stop({ graceful: true, timeout: stopTimeout, close: false });
      sending.stop();
    },
    async enqueue(tx, message) {
      if (!started) throw new Error('The outbox has not been started');
      const messageId = await insertMessage(tx, keys, message);
      await boss.send(queues[message.channel], { messageId }, { db: fromKysely(tx) });
      metrics.queued(message.channel);
    },
    withdraw: (tx, confirmationIds) => supersede(tx, confirmationIds),
    async poll() {
      for (const worker of workers) boss.notifyWorker(worker);
      // On PGlite there are no other processes.
      if (embedded || performance.now() - supervisedAt < supervision * 1000) return;
      supervisedAt = performance.now();
      await boss.supervise();
    },
    async resume() {
      await db.transaction().execute(async (tx) => {
        // Skips what another process is resuming, instead of waiting for it.
        const { rows: queued } = await sql<{ id: string; channel: Channel }>`
          UPDATE messages SET needs_job = false WHERE id IN (
            SELECT id FROM messages WHERE ${isQueuedAgain} FOR UPDATE SKIP LOCKED)
          RETURNING id, channel`.execute(tx);
        for (const { id, channel } of queued) {
          await boss.send(queues[channel], { messageId: id }, { db: fromKysely(tx) });
        }
      });
    },
    markDelayed: markDelayed({ db, senders, metrics, log }),
  };
}

/**
 * When several gateways create the schema concurrently, PostgreSQL reports a unique violation to some of them, which
 * pg-boss does not handle. The second attempt finds the schema.
 */
async function startBoss(boss: PgBoss): Promise<void> {
  try {
    await boss.start();
  } catch (error) {
    if (!isUniqueViolation(error, 'pg_namespace_nspname_index')) throw error;
    await boss.start();
  }
}

/** Limits the pause before the next attempt of a job. pg-boss itself changes no job that is active. */
async function limitPause(jobs: JobDatabase, jobId: string, { mostPause }: NotDelivered): Promise<void> {
  if (mostPause === undefined) return;
  await jobs.executeSql('UPDATE pgboss.job SET retry_delay_max = $3 WHERE name = ANY($1) AND id = $2', [
    queueNames,
    jobId,
    Math.min(mostPause, longestPause),
  ]);
}

/** Retries jobs that the previous process left active. */
async function requeueOrphans(boss: PgBoss, jobs: JobDatabase, queue: string): Promise<void> {
  const { rows } = await jobs.executeSql("SELECT id FROM pgboss.job WHERE name = $1 AND state = 'active'", [queue]);
  const ids = rows.map(({ id }: { id: string }) => id);
  if (ids.length > 0) await boss.fail(queue, ids, { reason: 'the gateway was killed' });
}

async function insertMessage(tx: Tx, keys: KeyRing, message: CodeMessage): Promise<string> {
  const { confirmationId, appointments, kind, to, language, clinicName, timeZone, pageUrl, code } = message;
  const [first] = appointments;
  if (!first) throw new Error('A code message needs an appointment');
  const owner = { id: randomUUID(), emr: message.emr };
  const content = {
    kind,
    to,
    language,
    clinicName,
    timeZone,
    pageUrl,
    code,
    firstStart: first.start,
    count: appointments.length,
  };
  await supersede(tx, [confirmationId]);
  await tx
    .insertInto('messages')
    .values({
      ...owner,
      confirmation_id: confirmationId,
      sequence: sql`(SELECT coalesce(max(sequence), 0) + 1 FROM messages WHERE confirmation_id = ${confirmationId})`,
      care_unit_id: message.careUnitId,
      channel: message.channel,
      first_appointment_id: first.id,
      sealed_content: sealContent(keys, owner, content),
      expires_at: message.expiresAt,
    })
    .execute();
  return owner.id;
}

/** A failed message stays failed, so that operators still see it, but cannot be sent again. Receipts no longer count. */
async function supersede(tx: Tx, confirmationIds: readonly string[]): Promise<void> {
  if (confirmationIds.length === 0) return;
  await tx
    .updateTable('messages')
    .set({
      state: sql`CASE state WHEN 'queued' THEN 'superseded' ELSE state END`,
      sealed_content: null,
      completed_at: sql<Date>`coalesce(completed_at, clock_timestamp())`,
      needs_job: false,
      receipt_hash: null,
    })
    .where(sql<boolean>`confirmation_id = ANY(${[...confirmationIds]}::uuid[])`)
    .where((is) => is.or([is('state', 'in', ['queued', 'failed']), is('receipt_hash', 'is not', null)]))
    .execute();
}
