import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/**
 * The columns with encrypted text, which begins with the id of its key.
 *
 * @internal a test compares them with the database
 */
export const sealedColumns = [
  'operations.sealed_plan',
  'operations.sealed_response',
  'confirmations.sealed_return_url',
  'confirmation_items.sealed_comment',
  'confirmation_items.sealed_draft',
  'confirmation_items.sealed_patient_details',
  'events.sealed_appointment',
  'appointment_identifiers.sealed_identifier',
  'timeslot_watches.sealed_search',
  'messages.sealed_content',
  'demo_mailbox.sealed_content',
  'upload_chunks.sealed_content',
  'webhook_endpoints.sealed_url',
  'webhook_endpoints.sealed_secret',
  'webhook_endpoints.sealed_previous_secret',
  'webhook_endpoints.sealed_earlier_secrets',
  'webhook_endpoints.sealed_subscription',
  'operators.sealed_totp_secret',
  'audit_keys.sealed_key',
  'stored_emrs.sealed_secrets',
  'clients.sealed_proof',
  'webhook_endpoints.sealed_proof',
  'operators.sealed_proof',
  'operator_sessions.sealed_proof',
  'operator_sign_in_links.sealed_proof',
] as const;

const sealedTexts = sql.join(
  sealedColumns.map((column) => sql`SELECT ${sql.ref(column)} AS sealed FROM ${sql.table(column.split('.')[0] ?? '')}`),
  sql` UNION ALL `,
);
const keyOfSealed = sql<string>`encode(substring(sealed FROM 1 FOR 4), 'hex')`;

/**
 * Whether a key that was replaced at this time is still needed: data is encrypted with it, or may be hashed with it. A
 * hash does not contain the id of its key, so its age decides.
 */
export async function isStillNeeded(db: Db, id: string, replacedAt: Date): Promise<boolean> {
  const { rows } = await sql<{ is_needed: boolean }>`
    SELECT EXISTS (SELECT FROM operations WHERE created_at <= ${replacedAt} AND idempotency_key_hash IS NOT NULL)
      OR EXISTS (SELECT FROM confirmations WHERE code_hash IS NOT NULL AND last_code_sent_at <= ${replacedAt})
      OR EXISTS (SELECT FROM (${sealedTexts}) AS kept WHERE ${keyOfSealed} = ${id}) AS is_needed`.execute(db);
  return rows[0]?.is_needed ?? true;
}
