import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/** Deletes published events older than `days` days. At most `limit`. */
export async function deleteOldEvents(db: Db, days: number, limit: number): Promise<void> {
  await sql`
    DELETE FROM events WHERE id = ANY (ARRAY(
      SELECT id FROM (
        SELECT id, occurred_at FROM events WHERE position IS NOT NULL ORDER BY position LIMIT ${limit}) AS oldest
      WHERE occurred_at < now() - make_interval(days => ${days})))`.execute(db);
}
