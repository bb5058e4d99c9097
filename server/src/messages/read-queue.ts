import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';

/** The queued messages of a channel. */
export interface Waiting {
  readonly channel: Channel;
  readonly count: number;
  /** Those of them that have not left within a minute. */
  readonly delayed: number;
  /** Seconds. */
  readonly oldest: number;
}

/** The messages of a channel that providers have accepted in the last 24 hours. */
export interface Left {
  readonly channel: Channel;
  readonly count: number;
  /** Those of them that have arrived, by the provider's receipts. */
  readonly delivered: number;
}

/** A code lives for a day at most, so its expiry finds them by an index. */
export async function readLeft(db: Db): Promise<readonly Left[]> {
  const { rows } = await sql<Left>`
    SELECT channel, count(*)::int AS count, count(delivered_at)::int AS delivered FROM messages
    WHERE state = 'sent' AND expires_at > now() - interval '48 hours' AND completed_at > now() - interval '24 hours'
    GROUP BY channel ORDER BY channel DESC`.execute(db);
  return rows;
}

/** Reads the queue of all gateways on this database. Uses the partial index of queued messages. */
export async function readQueue(db: Db): Promise<readonly Waiting[]> {
  const { rows } = await sql<Waiting>`
    SELECT channel, count(id)::int AS count, count(delayed_at)::int AS delayed,
      coalesce(greatest(extract(epoch FROM clock_timestamp() - min(created_at)), 0), 0)::float8 AS oldest
    FROM unnest(ARRAY['sms', 'email']) AS channels (channel)
    LEFT JOIN (SELECT id, channel, created_at, delayed_at FROM messages WHERE state = 'queued') AS queued USING (channel)
    GROUP BY channel`.execute(db);
  return rows;
}
