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
import { deliver } from './deliver.ts';
import { jobDatabase } from './job-database.ts';
import type { MessageMetrics } from './metrics.ts';
import type { CodeMessage, Outbox } from './outbox.ts';
import type { Senders } from './sender.ts';
import { troubleLog } from './trouble-log.ts';

const queue = 'messages';

/** Seconds. A killed worker's job comes back after `expiry`, found at the next supervision. */
const expiry = 20;
const usualPace = { poll: 1, supervision: 5 };
const stopTimeout = 20_000;

const queueSettings = {
  notify: true,
  expireInSeconds: expiry,
  // 1–2 s, 2–4 s, … up to a minute. The end is the message's own expiry.
  retryLimit: 1_000_000,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
  deleteAfterSeconds: 3_600,
};

export interface RunningOutbox extends Outbox {
  /** What can be sent at all. */
  readonly channels: ReadonlySet<Channel>;
  /** Before the first `enqueue`. Makes or updates pg-boss's schema; gateways may start at the same time. */
  start(): Promise<void>;
  /** Finishes what is being sent. Before the database is closed. */
  stop(): Promise<void>;
}

interface Dependencies {
  readonly database: Database;
  /** On the pool for background work. */
  readonly db: Db;
  readonly keys: KeyRing;
  readonly senders: Senders;
  readonly metrics: MessageMetrics;
  readonly log: Logger;
  /** PostgreSQL only: lets messages leave the moment they are committed, instead of within a second. */
  readonly databaseUrl?: string | undefined;
  /** Seconds between looks for messages, and for killed workers' jobs (2 at least). */
  readonly pace?: { readonly poll: number; readonly supervision: number };
}

/**
 * Messages wait in our table, sealed; pg-boss says when which one is tried. Several gateways share the work. A message is
 * sent at least once, and twice when the gateway is killed, or the answer lost, after the provider has accepted it.
 */
export function createOutbox(dependencies: Dependencies): RunningOutbox {
  const { database, db, keys, senders, metrics, log, databaseUrl, pace = usualPace } = dependencies;
  const embedded = database.kind === 'pglite';
  const jobs = jobDatabase(database, databaseUrl);
  const boss = new PgBoss({
    db: jobs,
    backend: embedded ? 'pglite' : 'postgres',
    schedule: false,
    useListenNotify: jobs.listen !== undefined,
    // On PGlite no other process can have been killed.
    superviseIntervalSeconds: embedded ? 60 : pace.supervision,
    monitorIntervalSeconds: embedded ? 60 : pace.supervision - 1,
    maintenanceIntervalSeconds: 600,
    flowIntervalSeconds: 3_600,
  });
  boss.on('error', troubleLog(log));
  boss.on('warning', ({ message }) => log.warn({ warning: message }, 'the outbox warns'));

  let started = false;
  return {
    channels: new Set((['sms', 'email'] as const).filter((channel) => senders[channel])),
    async start() {
      await startBoss(boss);
      await boss.createQueue(queue, queueSettings);
      await boss.updateQueue(queue, queueSettings);
      if (embedded) await requeueOrphans(boss, jobs);
      // Fills pg-boss's cache of queues, which it would otherwise fill in the midst of somebody's transaction.
      await boss.findJobs(queue, { id: randomUUID() });
      await boss.work<{ messageId: string }>(
        queue,
        {
          localConcurrency: embedded ? 4 : 8,
          pollingIntervalSeconds: pace.poll,
          notifyPollingIntervalSeconds: pace.poll,
        },
        async ([job]) => {
          if (job) await deliver({ db, keys, senders, metrics, log }, job.data.messageId);
        },
      );
      started = true;
    },
    stop: () => boss.stop({ graceful: true, timeout: stopTimeout, close: false }),
    async enqueue(tx, message) {
      if (!started) throw new Error('The outbox has not been started.');
      const messageId = await insertMessage(tx, keys, message);
      await boss.send(queue, { messageId }, { db: fromKysely(tx) });
      metrics.queued(message.channel);
    },
    withdraw: (tx, confirmationIds) => supersede(tx, confirmationIds),
    async resume() {
      await db.transaction().execute(async (tx) => {
        const queued = await tx
          .updateTable('messages')
          .set({ needs_job: false })
          .where('needs_job', '=', true)
          .where('state', '=', 'queued')
          .returning('id')
          .execute();
        for (const { id } of queued) await boss.send(queue, { messageId: id }, { db: fromKysely(tx) });
      });
    },
  };
}

/**
 * Of gateways that make the schema at the same time, one that still believes that there is none is refused with a unique
 * violation, which pg-boss does not expect. The second time it finds the schema.
 */
async function startBoss(boss: PgBoss): Promise<void> {
  try {
    await boss.start();
  } catch (error) {
    if (!isUniqueViolation(error, 'pg_namespace_nspname_index')) throw error;
    await boss.start();
  }
}

/** Jobs that the killed process before this one was at. */
async function requeueOrphans(boss: PgBoss, jobs: ReturnType<typeof jobDatabase>): Promise<void> {
  const { rows } = await jobs.executeSql("SELECT id FROM pgboss.job WHERE name = $1 AND state = 'active'", [queue]);
  const ids = rows.map(({ id }: { id: string }) => id);
  if (ids.length > 0) await boss.fail(queue, ids, { reason: 'the gateway was killed' });
}

async function insertMessage(tx: Tx, keys: KeyRing, message: CodeMessage): Promise<string> {
  const { confirmationId, appointments, kind, to, language, clinicName, timeZone, code } = message;
  const [first] = appointments;
  if (!first) throw new Error('A code must confirm something.');
  const owner = { id: randomUUID(), emr: message.emr };
  const content = {
    kind,
    to,
    language,
    clinicName,
    timeZone,
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

async function supersede(tx: Tx, confirmationIds: readonly string[]): Promise<void> {
  if (confirmationIds.length === 0) return;
  await tx
    .updateTable('messages')
    .set({ state: 'superseded', sealed_content: null, completed_at: sql<Date>`clock_timestamp()`, needs_job: false })
    .where(sql<boolean>`confirmation_id = ANY(${[...confirmationIds]}::uuid[])`)
    .where('state', 'in', ['queued', 'failed'])
    .execute();
}
