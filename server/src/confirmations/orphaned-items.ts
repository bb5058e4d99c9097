import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/**
 * Frees items that an operation has reserved, but whose operation has ended or never got a plan: those being confirmed await
 * their code again, those being expired may be expired by another operation. Every way out of an operation frees its items
 * in its own transaction. This finds those that no such way has reached. Returns how many it freed.
 */
export async function freeOrphanedItems(db: Db): Promise<number> {
  const { rows } = await sql<{ appointment_id: string }>`
    WITH orphaned AS MATERIALIZED (
      SELECT emr, appointment_id, operation_id FROM confirmation_items
      WHERE state IN ('confirming', 'expiring') AND operation_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM operations
          WHERE operations.id = operation_id AND sealed_plan IS NOT NULL AND operations.state <> 'done')
      LIMIT 100 FOR UPDATE SKIP LOCKED)
    UPDATE confirmation_items AS item
    SET operation_id = NULL, state = CASE item.state WHEN 'confirming' THEN 'pending' ELSE item.state END
    FROM orphaned
    -- Another operation may have reserved it since the list was made.
    WHERE item.emr = orphaned.emr AND item.appointment_id = orphaned.appointment_id
      AND item.operation_id = orphaned.operation_id
    RETURNING item.appointment_id`.execute(db);
  return rows.length;
}
