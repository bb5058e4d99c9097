import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';

/**
 * Marks items of `confirmation_items` as `expired`, and writes the event of each by the same statement.
 *
 * @param which condition over `confirmation_items`, such as their confirmation and their present state
 */
export async function expireItems(tx: Tx, which: RawBuilder<boolean>): Promise<void> {
  await sql`
    WITH expired AS (
      UPDATE confirmation_items SET state = 'expired', operation_id = NULL WHERE ${which}
      RETURNING emr, care_unit_id, kind, appointment_id, coalesce(replaces_id, appointment_id) AS subject, confirmation_id)
    INSERT INTO events (type, emr, care_unit_id, subject, data, began_at)
    SELECT 'appointment.confirmation_expired', emr, care_unit_id, subject, jsonb_build_object(
      'appointment_id', subject,
      'cancellation_id', CASE kind WHEN 'cancellation' THEN appointment_id END,
      'status', CASE kind WHEN 'cancellation' THEN 'booked' ELSE 'cancelled' END,
      'start', NULL, 'end', NULL, 'resource_id', NULL, 'healthcare_service_id', NULL),
      (SELECT created_at FROM confirmations WHERE id = confirmation_id)
    FROM expired`.execute(tx);
}
