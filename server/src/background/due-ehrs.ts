import { sql } from 'kysely';
import { mayExpire } from '../appointments/expiry/expire-overdue.ts';
import type { Db } from '../db/kysely.ts';

/** Milliseconds for which all EHRs share a result. */
const shared = 500;

/** Whether there is something to do for an EHR. Rejects with the errors of the database. */
type IsDue = (ehr: string) => Promise<boolean>;

/**
 * Tells whether background jobs have anything to do for an EHR: a hold that has expired, or an operation that is due. One
 * statement asks for all EHRs, so that many idle ones cost little.
 */
export function dueEhrs(db: Db, ehrs: readonly string[]): IsDue {
  return together(() => readDue(db, ehrs));
}

/** Tells whether the changes of an EHR are to be read, or some that were read have no event yet. */
export function dueChanges(db: Db, ehrs: readonly string[]): IsDue {
  return together(() => readDueChanges(db, ehrs));
}

function together(read: () => Promise<ReadonlySet<string>>): IsDue {
  let reading: Promise<ReadonlySet<string>> | undefined;
  let readAt = 0;
  return async (ehr) => {
    if (!reading || performance.now() - readAt > shared) {
      readAt = performance.now();
      reading = read();
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

async function readDueChanges(db: Db, ehrs: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    SELECT ehr.id FROM unnest(${[...ehrs]}::text[]) AS ehr (id)
    WHERE coalesce((SELECT next_read_at <= now() FROM ehr_change_feeds WHERE emr = ehr.id), true)
      OR (SELECT true FROM ehr_changes WHERE emr = ehr.id LIMIT 1)`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
