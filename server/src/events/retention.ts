import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/**
 * Deletes published events older than `days` days, at most `limit`. The newest one stays: it shows a reader whether events
 * after its position have been deleted.
 */
export async function deleteOldEvents(db: Db, days: number, limit: number): Promise<void> {
  await sql`
    DELETE FROM events WHERE id = ANY (ARRAY(
      SELECT id FROM (
        SELECT id, occurred_at FROM events WHERE position < (SELECT max(position) FROM events) ORDER BY position LIMIT ${limit}) AS oldest
      WHERE occurred_at < now() - make_interval(days => ${days})))`.execute(db);
}
