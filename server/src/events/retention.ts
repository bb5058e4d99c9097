import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { lastPosition } from './positions.ts';

/** Deletes published events older than `days` days, at most `limit`. */
export async function deleteOldEvents(db: Db, days: number, limit: number): Promise<void> {
  await sql`
    WITH old AS (
      SELECT id FROM (
        SELECT id, occurred_at FROM events WHERE position <= ${lastPosition('published')}
        ORDER BY position LIMIT ${limit}) AS oldest
      WHERE occurred_at < now() - make_interval(days => ${days})
    ), deleted AS (DELETE FROM events WHERE id = ANY (ARRAY(SELECT id FROM old)) RETURNING position)
    UPDATE event_positions SET position = latest.position FROM (SELECT max(position) AS position FROM deleted) AS latest
    WHERE event_positions.name = 'deleted' AND event_positions.position < latest.position`.execute(db);
}
