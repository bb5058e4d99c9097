import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { countHappenings, quarterOf } from './happenings.ts';

/**
 * Counts what happened in quarters of an hour that ended an hour ago or earlier, and returns whether there may be more. By
 * then every transaction that wrote a time in such a quarter has ended, also one whose commit hung. One statement counts a
 * day at most and moves the progress on, so each quarter is counted once, whichever gateway does it.
 */
export async function rollUp(db: Db): Promise<boolean> {
  const { rows } = await sql`
    WITH turn AS MATERIALIZED (
      SELECT counted_until AS start FROM history_progress
      WHERE counted_until <= now() - interval '75 minutes' FOR UPDATE
    ), reach AS MATERIALIZED (
      SELECT least(start + interval '1 day', ${quarterOf(sql`now() - interval '1 hour'`)}) AS until FROM turn
    ), counted AS (
      INSERT INTO history_counts (quarter, kind, count)
      ${countHappenings(sql`(SELECT start FROM turn)`, sql`(SELECT until FROM reach)`)}
    )
    UPDATE history_progress SET counted_until = until FROM reach RETURNING 1`.execute(db);
  return rows.length > 0;
}
