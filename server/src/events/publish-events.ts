import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { retryTransaction } from '../db/retry.ts';
import { type StoredEvent, storedEventColumns } from './stored-event.ts';

/** Batch size. After a full batch, the next one follows at once. */
const atOnce = 500;

/**
 * Gives committed events their positions, in the order of writing. A transaction can commit later than one that wrote after
 * it, so a reader that follows the order of writing can miss an event. One process at a time publishes, so no position
 * appears before a lower one. Returns whether there may be more.
 *
 * @param onPublish runs in the same transaction
 */
export async function publishEvents(
  db: Db,
  onPublish: (tx: Tx, published: readonly StoredEvent[]) => Promise<void>,
  limit = atOnce,
): Promise<boolean> {
  const waiting = await sql`SELECT FROM events WHERE position IS NULL LIMIT 1`.execute(db);
  if (waiting.rows.length === 0) return false;
  return retryTransaction(() =>
    db.transaction().execute(async (tx) => {
      await sql`SELECT pg_advisory_xact_lock(hashtextextended('publish events', 0))`.execute(tx);
      const published = await assignPositions(tx, limit);
      await onPublish(tx, published);
      // Late events leave a batch smaller. The next round finds what is left.
      return published.length === limit;
    }),
  );
}

/**
 * A condition on `due`: the event must not follow the cancellation of its appointment, and is deleted. Concurrent operations
 * can end in another order than the EHR performed them, and several cancellations can succeed. So an event whose operation
 * began before the cancellation was reported, or within a minute after it, happened before the cancellation or repeats it,
 * unless the EHR shows that staff have booked the appointment again. An event of a later operation shows the same.
 */
const isLate = sql<boolean>`
  due.type LIKE 'appointment.%' AND EXISTS (
    SELECT FROM events AS earlier
    WHERE earlier.emr = due.emr AND earlier.subject = due.subject AND earlier.type = 'appointment.cancelled'
      AND (earlier.position IS NOT NULL OR earlier.sequence < due.sequence)
      AND CASE WHEN due.is_observed THEN due.type <> 'appointment.booked'
        ELSE due.began_at < earlier.occurred_at + interval '1 minute' END
      AND NOT EXISTS (
        SELECT FROM events AS again
        WHERE again.emr = due.emr AND again.subject = due.subject AND again.sequence > earlier.sequence
          AND again.sequence < due.sequence AND CASE WHEN again.is_observed THEN again.type = 'appointment.booked'
            ELSE again.began_at >= earlier.occurred_at + interval '1 minute' END))`;

/**
 * A condition on `due`: the event repeats a booking that was read from the EHR before its operation ended, for example
 * because the EHR made it late. Such an event is deleted.
 */
const isRepeated = sql<boolean>`
  due.type = 'appointment.booked' AND NOT due.is_observed AND EXISTS (
    SELECT FROM events AS earlier
    WHERE earlier.emr = due.emr AND earlier.subject = due.subject AND earlier.type = due.type AND earlier.is_observed
      AND earlier.sequence < due.sequence AND due.began_at < earlier.occurred_at)`;

async function assignPositions(tx: Tx, limit: number): Promise<StoredEvent[]> {
  const { rows } = await sql<StoredEvent>`
    WITH due AS MATERIALIZED (
      SELECT id, emr, subject, type, sequence, is_observed, began_at FROM events WHERE position IS NULL ORDER BY sequence LIMIT ${limit}
    ), checked AS MATERIALIZED (SELECT id, sequence, ${isLate} OR ${isRepeated} AS is_late FROM due),
    placed AS MATERIALIZED (SELECT id, row_number() OVER (ORDER BY sequence) AS place FROM checked WHERE NOT is_late),
    assigned AS (
      UPDATE event_positions SET position = position + placed.count FROM (SELECT count(*) FROM placed) AS placed
      WHERE name = 'published' RETURNING position - placed.count AS before),
    removed AS (DELETE FROM events USING checked WHERE events.id = checked.id AND is_late)
    UPDATE events SET position = assigned.before + placed.place FROM placed, assigned WHERE events.id = placed.id
    RETURNING ${storedEventColumns}`.execute(tx);
  return rows.toSorted((a, b) => a.position - b.position);
}
