import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import { isDelayed } from './delivery-state.ts';
import { canBeSentAgain } from './failed.ts';

/** Messages of a channel that have not left for the same cause. */
export interface StuckMessages {
  readonly channel: Channel;
  /** They are not tried again unless an operator sends them. */
  readonly isFailed: boolean;
  /** Why the last attempt failed. Null: none has failed. */
  readonly failureReason: string | null;
  readonly count: number;
  /** When the first of them was queued. */
  readonly since: Date;
  readonly patients: number;
}

/** The messages that failed and can be sent again, and those that have not left within a minute, by cause. */
export async function groupStuckMessages(db: Db): Promise<StuckMessages[]> {
  const { rows } = await sql<StuckMessages>`
    SELECT channel, state = 'failed' AS "isFailed", failure_reason AS "failureReason", count(*)::int AS count,
      min(coalesce(queued_again_at, created_at)) AS since, count(DISTINCT coalesce(
        (SELECT encode(patient_hash, 'hex') FROM confirmations WHERE id = messages.confirmation_id),
        confirmation_id::text))::int AS patients
    FROM messages
    WHERE ${isDelayed} OR (${canBeSentAgain})
    GROUP BY 1, 2, 3 ORDER BY "isFailed" DESC, since`.execute(db);
  return rows;
}
