import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Db } from '../db/kysely.ts';
import { eventsText, withEvents } from '../events/write-events.ts';
import { failureText } from './failure-text.ts';
import type { MessageMetrics } from './metrics.ts';
import { aboutMessage, messageEvent } from './reported-message.ts';
import type { Senders } from './sender.ts';

/** Seconds after which a message that has not left is late. */
const delayedAfter = 60;
const atOnce = 500;

interface Dependencies {
  readonly db: Db;
  readonly senders: Senders;
  readonly metrics: MessageMetrics;
  readonly log: Logger;
}

/**
 * Marks the messages that have not left within a minute, whatever the reason: a provider that rejects or hangs, or a gateway
 * that made no attempt. Any gateway does it, and the event is written with the mark, so each message has one. Returns whether
 * there can be more.
 */
export async function markDelayed({ db, senders, metrics, log }: Dependencies): Promise<boolean> {
  const late = await db
    .selectFrom('messages')
    .select(['id', 'confirmation_id', 'emr', 'care_unit_id', 'channel', 'first_appointment_id', 'failure_reason'])
    .where('state', '=', 'queued')
    .where('delayed_at', 'is', null)
    .where(sql<boolean>`created_at <= now() - make_interval(secs => ${delayedAfter})`)
    .where(sql<boolean>`coalesce(queued_again_at, created_at) <= now() - make_interval(secs => ${delayedAfter})`)
    .orderBy('created_at')
    .limit(atOnce)
    .execute();
  if (late.length === 0) return false;
  const events = late.map((message) => {
    return { id: message.id, events: [messageEvent('message.delayed', message, message.failure_reason)] };
  });
  // Skips what another gateway is marking or settling: the next round finds it, if it is still late.
  const mark = sql<{ id: string; began_at: Date }>`
    UPDATE messages SET delayed_at = clock_timestamp() WHERE id IN (
      SELECT id FROM messages WHERE id = ANY (${late.map(({ id }) => id)}::uuid[]) AND state = 'queued' AND delayed_at IS NULL
      FOR UPDATE SKIP LOCKED) RETURNING id, clock_timestamp() AS began_at`;
  const { rows } = await withEvents(mark, eventsText(events)).execute(db);
  const marked = new Set(rows.map(({ id }) => id));
  for (const message of late.filter(({ id }) => marked.has(id))) {
    metrics.delayed(message.channel);
    const { channel, failure_reason: reason } = message;
    const cause = reason === null ? 'no attempt has ended' : failureText(reason, senders[channel]?.address);
    log.warn({ ...aboutMessage(message), reason, cause }, 'message delayed');
  }
  return late.length === atOnce && marked.size > 0;
}
