import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Db } from '../db/kysely.ts';
import { eventsText, withEvents } from '../events/write-events.ts';
import { messageFailureText } from './failure-text.ts';
import type { MessageMetrics } from './metrics.ts';
import { aboutMessage, messageEvent } from './reported-message.ts';
import type { Senders } from './sender.ts';

/** Seconds after which a message that has not left is late. */
const delayedAfter = 60;
const atOnce = 500;

/** A condition on `messages`: it has not left within a minute, and nobody has noticed yet. */
export const hasBecomeLate = sql<boolean>`
  state = 'queued' AND delayed_at IS NULL AND delivered_at IS NULL
  AND created_at <= now() - make_interval(secs => ${delayedAfter})
  AND coalesce(queued_again_at, created_at) <= now() - make_interval(secs => ${delayedAfter})`;

interface Dependencies {
  readonly db: Db;
  readonly senders: Senders;
  readonly metrics: MessageMetrics;
  readonly log: Logger;
}

/** Late messages, and when they were noticed: their mark, which tells it from those of other gateways. */
interface Batch {
  readonly late: Awaited<ReturnType<typeof readLate>>;
  readonly noticedAt: string;
}

/**
 * Returns a job that marks the messages that have not left within a minute, whatever the reason: a provider that rejects or
 * hangs, or a gateway that made no attempt. Any gateway does it, and the event is written with the mark, so each message has
 * one. The job returns whether there can be more.
 */
export function markDelayed({ db, senders, metrics, log }: Dependencies): () => Promise<boolean> {
  /** The database did not say whether it has stored their marks. */
  const unsure = new Set<Batch>();

  function report({ late }: Batch, marked: ReadonlySet<string>): void {
    for (const message of late.filter(({ id }) => marked.has(id))) {
      metrics.delayed(message.channel);
      const { channel, failure_reason: reason } = message;
      const cause = reason === null ? 'no attempt has ended' : messageFailureText(reason, senders[channel]?.address);
      log.warn({ ...aboutMessage(message), reason, cause }, 'message delayed');
    }
  }

  return async () => {
    for (const batch of unsure) {
      const marked = await readMarked(db, batch);
      if (unsure.delete(batch)) report(batch, marked);
    }
    const late = await readLate(db);
    const [first] = late;
    if (!first) return false;
    const batch = { late, noticedAt: first.noticed_at };
    const marked = await mark(db, batch).catch((error: unknown) => {
      unsure.add(batch);
      throw error;
    });
    report(batch, marked);
    return late.length === atOnce && marked.size > 0;
  };
}

function readLate(db: Db) {
  return (
    db
      .selectFrom('messages')
      .select(['id', 'confirmation_id', 'emr', 'care_unit_id', 'channel', 'first_appointment_id', 'failure_reason'])
      // As text, with its microseconds.
      .select(sql<string>`now()::text`.as('noticed_at'))
      .where(hasBecomeLate)
      .orderBy('created_at')
      .limit(atOnce)
      .execute()
  );
}

async function mark(db: Db, { late, noticedAt }: Batch): Promise<ReadonlySet<string>> {
  const events = late.map((message) => {
    return { id: message.id, events: [messageEvent('message.delayed', message, message.failure_reason)] };
  });
  // Skips what another gateway is marking or settling: the next round finds it, if it is still late.
  const marked = sql<{ id: string; began_at: Date }>`
    UPDATE messages SET delayed_at = ${noticedAt}::timestamptz WHERE id IN (
      SELECT id FROM messages WHERE id = ANY (${late.map(({ id }) => id)}::uuid[]) AND state = 'queued' AND delayed_at IS NULL
      FOR UPDATE SKIP LOCKED) RETURNING id, clock_timestamp() AS began_at`;
  const { rows } = await withEvents(marked, eventsText(events)).execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** What a statement has marked whose answer was lost. */
async function readMarked(db: Db, { late, noticedAt }: Batch): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM messages
    WHERE id = ANY (${late.map(({ id }) => id)}::uuid[]) AND delayed_at = ${noticedAt}::timestamptz`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
