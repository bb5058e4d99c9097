import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import { isUuid } from '../identifiers/uuid.ts';
import { queueNames } from './queues.ts';

/** Queued messages: one, those of a channel, or all. */
interface Meant {
  readonly id?: string | undefined;
  readonly channel?: Channel | undefined;
}

/**
 * Makes the next attempts of queued messages due, even if the provider asked to wait. A gateway makes them within seconds.
 * Returns the number of queued messages that are meant.
 */
export async function sendNow(tx: Tx, { id, channel }: Meant): Promise<number> {
  if (id !== undefined && !isUuid(id)) return 0;
  const { rows } = await sql<{ id: string }>`
    UPDATE messages SET not_before = NULL
    WHERE state = 'queued' AND id = coalesce(${id ?? null}, id) AND channel = coalesce(${channel ?? null}, channel)
    RETURNING id`.execute(tx);
  if (rows.length === 0) return 0;
  // A job that is under way makes its attempt anyway. One for each message: a second job could send it twice.
  await sql`
    UPDATE pgboss.job SET start_after = now()
    WHERE name = ANY (${queueNames}::text[]) AND state IN ('created', 'retry') AND start_after > now()
      AND data->>'messageId' = ANY (${rows.map((it) => it.id)}::text[])`.execute(tx);
  return rows.length;
}
