import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/**
 * Deletes published events older than `days` days, at most `limit`. Events with a pending delivery to a webhook endpoint are
 * kept twice as long: later events of an appointment wait until the earlier ones were delivered or have failed. The last event
 * about the availability of each EHR stays: the next one depends on it.
 */
export async function deleteOldEvents(db: Db, days: number, limit: number): Promise<void> {
  await sql`
    WITH old AS (
      SELECT id FROM events
      WHERE position IS NOT NULL AND occurred_at < now() - make_interval(days => ${days})
        AND (occurred_at < now() - make_interval(days => ${2 * days}) OR NOT EXISTS (
          SELECT FROM webhook_deliveries WHERE event_id = events.id AND state = 'pending'))
        AND (subject IS NOT NULL OR type NOT LIKE 'emr.%' OR EXISTS (
          SELECT FROM events AS newer
          WHERE newer.emr = events.emr AND newer.subject IS NULL AND newer.type LIKE 'emr.%'
            AND newer.sequence > events.sequence))
      ORDER BY occurred_at LIMIT ${limit}
    ), deleted AS (DELETE FROM events WHERE id = ANY (ARRAY(SELECT id FROM old)) RETURNING position)
    UPDATE event_positions SET position = latest.position FROM (SELECT max(position) AS position FROM deleted) AS latest
    WHERE event_positions.name = 'deleted' AND event_positions.position < latest.position`.execute(db);
}
