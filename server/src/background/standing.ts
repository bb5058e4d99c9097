import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { Standing } from '../operations/metrics.ts';

/** How the operations of each EHR stand, for the metrics; of one that is not configured any more, those that are parked. */
export async function readStanding(db: Db, emrs: readonly string[]): Promise<Standing[]> {
  const { rows } = await sql<{ emr: string; oldest: number; parked: number; overdue: number }>`
    SELECT emr.id AS emr,
      (SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM operations
        WHERE operations.emr = emr.id AND next_attempt_at IS NOT NULL AND state <> 'done') AS oldest,
      (SELECT count(*)::int FROM operations WHERE operations.emr = emr.id AND parked_at IS NOT NULL) AS parked,
      (SELECT count(*)::int FROM confirmation_items AS item
        JOIN confirmations AS confirmation ON confirmation.id = item.confirmation_id
        WHERE item.emr = emr.id AND item.kind = 'booking' AND item.state IN ('pending', 'expiring')
          AND confirmation.expires_at <= now()) AS overdue
    FROM (
      SELECT unnest(${[...emrs]}::text[]) UNION SELECT emr FROM operations WHERE parked_at IS NOT NULL
    ) AS emr (id)`.execute(db);
  return rows.map(({ emr, oldest, parked, overdue }) => ({
    emr,
    oldestPendingSeconds: oldest,
    parked,
    overdueHolds: overdue,
  }));
}
