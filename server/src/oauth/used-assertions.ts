import { hash, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { isDatabaseFailure } from '../db/errors.ts';
import type { Db } from '../db/kysely.ts';

/** A verified assertion. */
interface Assertion {
  readonly clientId: string;
  readonly jti: string;
  readonly expiresAt: Date;
}

/**
 * Notes that an assertion is used. Returns `false` if it was used before, at whatever gateway. A statement whose answer was lost
 * is sent once more: it then finds its own row.
 *
 * @throws the errors of the database. The assertion may be used up then
 */
export async function useAssertion(db: Db, { clientId, jti, expiresAt }: Assertion): Promise<boolean> {
  const request = randomUUID();
  const use = async () => {
    const { rows } = await sql`
      INSERT INTO used_assertions AS used (client_id, jti_hash, request_id, expires_at)
      VALUES (${clientId}, ${hash('sha256', jti, 'buffer')}, ${request}, ${expiresAt})
      ON CONFLICT (client_id, jti_hash) DO UPDATE SET expires_at = used.expires_at
        WHERE used.request_id = excluded.request_id
      RETURNING 1`.execute(db);
    return rows.length === 1;
  };
  try {
    return await use();
  } catch (error) {
    if (!isDatabaseFailure(error)) throw error;
    return use();
  }
}

/** Deletes assertions that have expired, at most `limit`. Returns whether there can be more. */
export async function deleteOldAssertions(db: Db, limit: number): Promise<boolean> {
  // An hour, so that a clock which was set back does not make one valid again.
  const { numAffectedRows } = await sql`
    DELETE FROM used_assertions WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM used_assertions WHERE expires_at < now() - interval '1 hour' LIMIT ${limit}))`.execute(db);
  return Number(numAffectedRows) === limit;
}
