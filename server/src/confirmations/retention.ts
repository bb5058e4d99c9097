import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { repeatLifetime } from './decide-code.ts';

/** A condition on `confirmation`: no id awaits the code, and none has a hold. */
const hasEnded = sql<boolean>`NOT EXISTS (
  SELECT FROM confirmation_items AS item
  WHERE item.confirmation_id = confirmation.id AND item.state IN ('pending', 'confirming', 'expiring'))`;

/**
 * Deletes code hashes, and the comments and details of patients stored with them, of confirmations that have ended. After a successful
 * confirmation the hash stays as long as repeated requests are recognised. At most `limit` confirmations.
 */
export async function deleteUsedCodes(db: Db, limit: number): Promise<void> {
  await sql`
    WITH served AS (
      SELECT confirmation.id FROM confirmations AS confirmation
      WHERE confirmation.code_hash IS NOT NULL AND ${hasEnded}
        AND (confirmation.confirmed_at IS NULL OR confirmation.confirmed_at <= now() - ${repeatLifetime})
      LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), comments AS (
      UPDATE confirmation_items SET sealed_comment = NULL, sealed_patient_details = NULL
      WHERE confirmation_id = ANY (ARRAY(SELECT id FROM served))
        AND (sealed_comment IS NOT NULL OR sealed_patient_details IS NOT NULL)
    )
    UPDATE confirmations SET code_hash = NULL WHERE id = ANY (ARRAY(SELECT id FROM served))`.execute(db);
}

/**
 * Purges confirmations that ended more than `days` days ago. The gateway's own ids stay valid: for an appointment of the EHR
 * (two-step cancellation, booked draft) everything but the ids is deleted; a draft that was never booked exists only here
 * and stays, encrypted. At most `limit` confirmations.
 */
export async function deleteOldConfirmations(db: Db, days: number, limit: number): Promise<void> {
  const longAgo = sql`now() - make_interval(days => ${days})`;
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string }>`
      SELECT confirmation.id FROM confirmations AS confirmation
      WHERE confirmation.purged_at IS NULL AND confirmation.expires_at < ${longAgo} AND ${hasEnded}
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
      UPDATE confirmations
      SET purged_at = clock_timestamp(), patient_hash = NULL, page_token_hash = NULL, sealed_return_url = NULL
      WHERE id = ANY(${ids}::uuid[])`.execute(tx);
    await sql`
      UPDATE confirmation_items
      SET patient_hash = NULL, draft_resource_id = NULL, draft_start = NULL, draft_end = NULL
      WHERE confirmation_id = ANY(${ids}::uuid[]) AND ehr_appointment_id IS NOT NULL`.execute(tx);
  });
}
