import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/**
 * Deletes operations a day after they were created, at most `limit`. Until then their keys are valid, and operations that
 * may still have an effect are monitored. Open and suspended operations stay. The ids are an array because PostgreSQL would
 * read the whole table to join a subquery.
 */
export async function deleteOldOperations(db: Db, limit: number): Promise<void> {
  await sql`
    DELETE FROM operations WHERE id = ANY (ARRAY(
      SELECT id FROM operations
      WHERE created_at < now() - interval '24 hours' AND (state = 'done' OR sealed_plan IS NULL)
        AND (lease_expires_at IS NULL OR lease_expires_at < now())
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`.execute(db);
}
