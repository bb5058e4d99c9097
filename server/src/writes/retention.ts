import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/** Deletes writes a day after they were created, at most `limit`: until then their keys are valid. Open and suspended ones stay. */
export async function deleteOldWrites(db: Db, limit: number): Promise<void> {
  await sql`
    -- An array, because PostgreSQL would read the whole table to join a subquery.
    DELETE FROM operations WHERE id = ANY (ARRAY(
      SELECT id FROM operations
      WHERE created_at < now() - interval '24 hours' AND (state = 'done' OR sealed_plan IS NULL)
        AND (lease_expires_at IS NULL OR lease_expires_at < now())
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`.execute(db);
}
