import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';

/** What the gateway holds about a patient because of codes and drafts. */
export interface OfCodes {
  readonly confirmations: number;
  readonly messages: number;
  /** Bookings that the EHR never got. */
  readonly drafts: number;
  /** Ids that stand for appointments of the EHR: they stay valid for callers. */
  readonly ids: number;
  /** Confirmations whose code can still be entered, or whose hold is not released. */
  readonly open: number;
}

/**
 * Finds what the gateway holds about a patient because of codes, and locks it for the rest of the transaction. Purged confirmations
 * name no patient any more.
 *
 * @param hashes of the patient, one for each secret key
 */
export async function findOfCodes(
  tx: Tx,
  emr: string,
  hashes: readonly Buffer[],
): Promise<{ readonly ids: readonly string[]; readonly found: OfCodes }> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM confirmations WHERE emr = ${emr} AND (patient_hash = ANY(${hashes}::bytea[]) OR id = ANY (ARRAY(
      SELECT confirmation_id FROM confirmation_items WHERE emr = ${emr} AND patient_hash = ANY(${hashes}::bytea[]))))
    ORDER BY id FOR UPDATE`.execute(tx);
  const ids = rows.map(({ id }) => id);
  const counts = await sql<Omit<OfCodes, 'confirmations'>>`
    SELECT count(DISTINCT confirmation_id) FILTER (WHERE state IN ('pending', 'confirming', 'expiring'))::int AS open,
      count(*) FILTER (WHERE ehr_appointment_id IS NULL)::int AS drafts,
      count(*) FILTER (WHERE ehr_appointment_id <> appointment_id OR kind <> 'booking')::int AS ids,
      (SELECT count(*)::int FROM messages WHERE confirmation_id = ANY(${ids}::uuid[])) AS messages
    FROM confirmation_items WHERE confirmation_id = ANY(${ids}::uuid[])`.execute(tx);
  return { ids, found: { confirmations: ids.length, ...(counts.rows[0] as Omit<OfCodes, 'confirmations'>) } };
}

/** Deletes confirmations with their messages and drafts. Of an id that stands for an appointment of the EHR, only the ids stay. */
export async function eraseOfCodes(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`
    DELETE FROM demo_mailbox WHERE appointment_id = ANY (ARRAY(
      SELECT appointment_id FROM confirmation_items WHERE confirmation_id = ANY(${ids}::uuid[])))`.execute(tx);
  await sql`DELETE FROM messages WHERE confirmation_id = ANY(${ids}::uuid[])`.execute(tx);
  await sql`
    DELETE FROM confirmation_items WHERE confirmation_id = ANY(${ids}::uuid[])
      AND (ehr_appointment_id IS NULL OR (kind = 'booking' AND ehr_appointment_id = appointment_id))`.execute(tx);
  await sql`
    UPDATE confirmation_items SET sealed_comment = NULL, sealed_draft = NULL, sealed_patient_details = NULL, patient_hash = NULL,
      draft_resource_id = NULL, draft_start = NULL, draft_end = NULL
    WHERE confirmation_id = ANY(${ids}::uuid[])`.execute(tx);
  await sql`
    DELETE FROM confirmations WHERE id = ANY(${ids}::uuid[]) AND id <> ALL (ARRAY(
      SELECT confirmation_id FROM confirmation_items WHERE confirmation_id = ANY(${ids}::uuid[])))`.execute(tx);
  await sql`
    UPDATE confirmations SET purged_at = coalesce(purged_at, clock_timestamp()), code_hash = NULL, patient_hash = NULL,
      page_token_hash = NULL, sealed_return_url = NULL
    WHERE id = ANY(${ids}::uuid[])`.execute(tx);
}
