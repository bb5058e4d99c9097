import { sql } from 'kysely';
import { mayExpire } from '../appointments/expiry/expire-overdue.ts';
import type { Db } from '../db/kysely.ts';

/** Milliseconds for which all EHRs share a result. */
const shared = 500;

/**
 * Returns a function that tells whether background jobs have anything to do for an EHR: a hold that has expired, or an
 * operation that is due. One statement asks for all EHRs, so that many idle ones cost little. Rejects with the errors of the
 * database.
 */
export function dueEhrs(db: Db, ehrs: readonly string[]): (ehr: string) => Promise<boolean> {
  let reading: Promise<ReadonlySet<string>> | undefined;
  let readAt = 0;
  return async (ehr) => {
    if (!reading || performance.now() - readAt > shared) {
      readAt = performance.now();
      reading = readDue(db, ehrs);
    }
    return (await reading).has(ehr);
  };
}

/** Scalar subqueries with a limit, because PostgreSQL may hash the whole table for EXISTS. */
async function readDue(db: Db, ehrs: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    SELECT ehr.id FROM unnest(${[...ehrs]}::text[]) AS ehr (id)
    WHERE (SELECT true FROM operations WHERE emr = ehr.id AND next_attempt_at <= now() LIMIT 1)
      OR (SELECT true FROM confirmation_items AS item
        WHERE item.emr = ehr.id AND ${mayExpire} AND item.state IN ('pending', 'expiring')
          AND (SELECT expires_at FROM confirmations WHERE id = item.confirmation_id) <= now() LIMIT 1)`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
