import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { retrySerialization } from '../db/retry.ts';
import { type StoredEvent, storedEventColumns } from './stored-event.ts';

/** Batch size. After a full batch, the next one follows at once. */
const atOnce = 500;

/**
 * Gives committed events their positions, in the order of writing. Transactions commit in another order than they write, so
 * a reader that goes by the order of writing can miss an event. One process at a time publishes, so no position appears
 * before a lower one. Returns whether there may be more.
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
  return retrySerialization(() =>
    db.transaction().execute(async (tx) => {
      await sql`SELECT pg_advisory_xact_lock(hashtextextended('publish events', 0))`.execute(tx);
      const published = await assignPositions(tx, limit);
      await onPublish(tx, published);
      return published.length === limit;
    }),
  );
}

async function assignPositions(tx: Tx, limit: number): Promise<StoredEvent[]> {
  const { rows } = await sql<StoredEvent>`
    WITH due AS MATERIALIZED (
      SELECT id FROM events WHERE position IS NULL ORDER BY sequence LIMIT ${limit}
    ), placed AS MATERIALIZED (SELECT id, nextval('event_positions') AS position FROM due)
    UPDATE events SET position = placed.position FROM placed WHERE events.id = placed.id
    RETURNING ${storedEventColumns}`.execute(tx);
  return rows.toSorted((a, b) => a.position - b.position);
}
