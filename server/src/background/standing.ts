import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { Standing } from '../operations/metrics.ts';

/** How the operations of each EHR stand, for the metrics; of one that is not configured any more, those that are suspended. */
export async function readStanding(db: Db, emrs: readonly string[]): Promise<Standing[]> {
  const { rows } = await sql<{ emr: string; oldest: number; suspended: number; overdue: number }>`
    SELECT emr.id AS emr,
      -- Apart, or PostgreSQL goes through all operations by their age to meet the first one that is under way.
      (WITH under_way AS MATERIALIZED (
          SELECT created_at FROM operations
          WHERE operations.emr = emr.id AND next_attempt_at IS NOT NULL AND state <> 'done')
        SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM under_way) AS oldest,
      (SELECT count(*)::int FROM operations WHERE operations.emr = emr.id AND suspended_at IS NOT NULL) AS suspended,
      -- One look for each that waits: most confirmations have run out long ago.
      (SELECT count(*)::int FROM confirmation_items AS item
        WHERE item.emr = emr.id AND item.kind = 'booking' AND item.state IN ('pending', 'expiring')
          AND (SELECT expires_at FROM confirmations WHERE id = item.confirmation_id) <= now()) AS overdue
    FROM (
      SELECT unnest(${[...emrs]}::text[]) UNION SELECT emr FROM operations WHERE suspended_at IS NOT NULL
    ) AS emr (id)`.execute(db);
  return rows.map(({ emr, oldest, suspended, overdue }) => ({
    emr,
    oldestPendingSeconds: oldest,
    suspended,
    overdueHolds: overdue,
  }));
}
