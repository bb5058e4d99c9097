import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { repeatableFor } from './decide.ts';

/** Of `confirmation`: none of its ids waits for the code any more, none ever will, and nothing is held for any. */
const isOver = sql<boolean>`NOT EXISTS (
  SELECT FROM confirmation_items AS item
  WHERE item.confirmation_id = confirmation.id AND item.state IN ('pending', 'confirming', 'expiring'))`;

/**
 * Forgets the codes that confirm nothing any more, and comments that were waiting with them: at once, and where a code
 * was right, when its repetition is not recognised any more. At most `limit` confirmations.
 */
export async function forgetServedCodes(db: Db, limit: number): Promise<void> {
  await sql`
    WITH served AS (
      SELECT confirmation.id FROM confirmations AS confirmation
      WHERE confirmation.code_hash IS NOT NULL AND ${isOver}
        AND (confirmation.confirmed_at IS NULL OR confirmation.confirmed_at <= now() - ${repeatableFor})
      LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), comments AS (
      UPDATE confirmation_items SET sealed_comment = NULL
      WHERE confirmation_id = ANY (ARRAY(SELECT id FROM served)) AND sealed_comment IS NOT NULL
    )
    UPDATE confirmations SET code_hash = NULL WHERE id = ANY (ARRAY(SELECT id FROM served))`.execute(db);
}

/**
 * Deletes what is left of confirmations that ended so many days ago. An id of ours goes on standing for what it stood for:
 * where that is an appointment of the EHR (two-step cancellation, booked draft), all but the ids is deleted; a draft that
 * was never booked is nowhere else, and stays sealed. At most `limit` confirmations.
 */
export async function deleteOldConfirmations(db: Db, days: number, limit: number): Promise<void> {
  const longAgo = sql`now() - make_interval(days => ${days})`;
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string }>`
      SELECT confirmation.id FROM confirmations AS confirmation
      WHERE confirmation.purged_at IS NULL AND confirmation.expires_at < ${longAgo} AND ${isOver}
        AND (confirmation.confirmed_at IS NULL OR confirmation.confirmed_at < ${longAgo})
      ORDER BY confirmation.expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`.execute(tx);
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    await sql`
      DELETE FROM confirmation_items WHERE confirmation_id = ANY(${ids}::uuid[])
        AND kind = 'booking' AND ehr_appointment_id = appointment_id`.execute(tx);
    await sql`
      DELETE FROM confirmations WHERE id = ANY(${ids}::uuid[]) AND id <> ALL (ARRAY(
        SELECT confirmation_id FROM confirmation_items WHERE confirmation_id = ANY(${ids}::uuid[])))`.execute(tx);
    await sql`
      UPDATE confirmations SET purged_at = clock_timestamp(), patient_hash = NULL
      WHERE id = ANY(${ids}::uuid[])`.execute(tx);
    await sql`
      UPDATE confirmation_items
      SET patient_hash = NULL, draft_resource_id = NULL, draft_start = NULL, draft_end = NULL
      WHERE confirmation_id = ANY(${ids}::uuid[]) AND ehr_appointment_id IS NOT NULL`.execute(tx);
  });
}
