import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/** Deletes expired sessions and links, and failed sign-ins of yesterday, at most `limit` of each. */
export async function deleteOldConsoleData(db: Db, limit: number): Promise<void> {
  await sql`
    WITH sessions AS (
      DELETE FROM operator_sessions WHERE token_hash = ANY (ARRAY(
        SELECT token_hash FROM operator_sessions WHERE expires_at < now() LIMIT ${limit})) RETURNING 1),
    links AS (
      DELETE FROM operator_sign_in_links WHERE token_hash = ANY (ARRAY(
        SELECT token_hash FROM operator_sign_in_links WHERE expires_at < now() LIMIT ${limit})) RETURNING 1)
    DELETE FROM failed_sign_ins WHERE key_hash = ANY (ARRAY(
      SELECT key_hash FROM failed_sign_ins WHERE last_failed_at < now() - interval '1 day' LIMIT ${limit}))`.execute(
    db,
  );
}
