import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/**
 * Keys are honoured for a day, and what has ended is monitored as long. What is still under way stays, and what is
 * suspended waits for an operator. Deletes at most `limit`: an array of ids, since PostgreSQL joins what is in a subquery by
 * reading the whole table.
 */
export async function deleteOldOperations(db: Db, limit: number): Promise<void> {
  await sql`
    DELETE FROM operations WHERE id = ANY (ARRAY(
      SELECT id FROM operations
      WHERE created_at < now() - interval '24 hours' AND (state = 'done' OR sealed_plan IS NULL)
        AND (lease_expires_at IS NULL OR lease_expires_at < now())
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`.execute(db);
}
