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
