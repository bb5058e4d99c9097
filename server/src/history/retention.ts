import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/** The plots show 30 days of local time. */
const kept = sql`interval '31 days'`;

/** Deletes the oldest rows of the history when no plot shows them any more, at most `limit` of each kind. */
export async function deleteOldHistory(db: Db, limit: number): Promise<void> {
  const oldest = (table: RawBuilder<unknown>) => sql`
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} WHERE quarter < now() - ${kept} ORDER BY quarter LIMIT ${limit}))`;
  await sql`WITH counts AS (${oldest(sql.table('history_counts'))}) ${oldest(sql.table('ehr_history'))}`.execute(db);
}
