import { sql } from 'kysely';
import { hasTime } from '../db/few-rows.ts';
import type { Db } from '../db/kysely.ts';
import type { EhrGauges } from './round-metrics.ts';

/** Reads the gauges of each configured EHR, and of other EHRs with suspended writes. */
export async function readGauges(db: Db, emrs: readonly string[]): Promise<EhrGauges[]> {
  const { rows } = await sql<{ emr: string; oldest: number; suspended: number; overdue: number }>`
    SELECT emr.id AS emr,
      -- Materialized: otherwise PostgreSQL scans all writes by age until it finds an open one.
      (WITH under_way AS MATERIALIZED (
          SELECT created_at FROM operations
          WHERE operations.emr = emr.id AND next_attempt_at IS NOT NULL AND state <> 'done')
        SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM under_way) AS oldest,
      (SELECT count(*)::int FROM operations WHERE operations.emr = emr.id AND ${hasTime('suspended_at')}) AS suspended,
      -- A look-up for each pending item, since most confirmations expired long ago.
      (SELECT count(*)::int FROM confirmation_items AS item
        WHERE item.emr = emr.id AND item.kind = 'booking' AND item.state IN ('pending', 'expiring')
          AND (SELECT expires_at FROM confirmations WHERE id = item.confirmation_id) <= now()) AS overdue
    FROM (
      SELECT unnest(${[...emrs]}::text[]) UNION SELECT emr FROM operations WHERE ${hasTime('suspended_at')}
    ) AS emr (id)`.execute(db);
  return rows.map(({ emr, oldest, suspended, overdue }) => ({
    emr,
    oldestPendingSeconds: oldest,
    suspended,
    overdueHolds: overdue,
  }));
}
