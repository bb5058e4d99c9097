import { sql } from 'kysely';
import { hasTime } from '../db/few-rows.ts';
import type { Db } from '../db/kysely.ts';
import type { Reason } from '../problems/reasons.ts';
import { type StoredRow, storedColumns } from '../writes/stored-write.ts';

/** Failures with which a write is retried for up to a day. */
export const outageReasons: ReadonlySet<string> = new Set([
  'ehr_unavailable',
  'ehr_paused',
  'ehr_timeout',
  'outcome_unknown',
  'database_unavailable',
] satisfies Reason[]);

/**
 * Leases writes of one EHR that are due, under this token. Several gateways share the work. Those of a care unit that is not
 * configured here wait for another gateway first.
 */
export async function leaseDue(
  db: Db,
  { emr, careUnits, token, leaseSeconds, limit }: Leasing,
): Promise<readonly StoredRow[]> {
  const { rows } = await sql<StoredRow>`
    WITH due AS MATERIALIZED (
      SELECT id FROM operations WHERE emr = ${emr} AND next_attempt_at <= now()
        AND (care_unit_id = ANY(${[...careUnits]}::text[]) OR next_attempt_at <= now() - interval '10 minutes')
      ORDER BY next_attempt_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    UPDATE operations SET
      lease_token = ${token}, lease_expires_at = now() + make_interval(secs => ${leaseSeconds}),
      next_attempt_at = now() + make_interval(secs => ${leaseSeconds})
    FROM due WHERE operations.id = due.id
    RETURNING ${storedColumns}`.execute(db);
  return rows;
}

interface Leasing {
  readonly emr: string;
  readonly careUnits: Iterable<string>;
  readonly token: string;
  readonly leaseSeconds: number;
  readonly limit: number;
}

/** Makes the writes of an EHR due that failed because it, or the database, was away. Their pauses begin anew. */
export async function makeDueAfterOutage(db: Db, emr: string): Promise<void> {
  await sql`
    UPDATE operations SET next_attempt_at = now(), consecutive_failures = 0
    WHERE emr = ${emr} AND next_attempt_at > now() AND lease_token IS NULL
      AND last_failure = ANY(${[...outageReasons]}::text[])`.execute(db);
}

/**
 * Suspends writes that are overdue and belong to an EHR that is not configured here, so that an operator sees them.
 * The delay leaves time for another gateway that has the EHR configured. Returns the suspended writes.
 */
export async function suspendUnconfigured(
  db: Db,
  emrs: readonly string[],
): Promise<readonly { readonly id: string; readonly emr: string }[]> {
  const { rows } = await sql<{ id: string; emr: string }>`
    UPDATE operations SET suspended_at = now(), next_attempt_at = NULL, last_failure = 'emr_not_found'
    WHERE next_attempt_at <= now() - interval '10 minutes' AND emr <> ALL(${[...emrs]}::text[])
    RETURNING id, emr`.execute(db);
  return rows;
}

/** Schedules suspended writes of EHRs that are configured again. */
export async function resumeConfigured(db: Db, emrs: readonly string[]): Promise<void> {
  await sql`
    UPDATE operations SET suspended_at = NULL, last_failure = NULL, next_attempt_at = now()
    WHERE ${hasTime('suspended_at')} AND last_failure = 'emr_not_found' AND emr = ANY(${[...emrs]}::text[])`.execute(
    db,
  );
}

/** Only for the embedded database: one process uses it at a time, so earlier holders of leases have stopped. */
export async function releaseAllLeases(db: Db): Promise<void> {
  await sql`
    UPDATE operations SET lease_token = NULL, lease_expires_at = NULL,
      next_attempt_at = CASE WHEN next_attempt_at IS NOT NULL THEN now() END
    WHERE lease_expires_at IS NOT NULL`.execute(db);
}
