import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';

/**
 * Makes an operation the owner of an upload, in the transaction that stores its plan. The upload then lives until the
 * operation ends.
 */
export async function adoptUpload(tx: Tx, id: string, operationId: string): Promise<void> {
  await tx.updateTable('uploads').set({ operation_id: operationId }).where('id', '=', id).execute();
}

/** Deletes an upload whose operation ends in this transaction. */
export async function deleteUpload(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('uploads').where('id', '=', id).execute();
}

/** Deletes an upload unless an operation owns it. */
export async function discardUpload(db: Db, id: string): Promise<void> {
  await db.deleteFrom('uploads').where('id', '=', id).where('operation_id', 'is', null).execute();
}

/**
 * Deletes uploads that were left behind, such as by a killed process: two hours old, and not part of an operation that may
 * still be performed. At most `limit`. A request takes less time.
 */
export async function deleteOldUploads(db: Db, limit: number): Promise<void> {
  await sql`
    DELETE FROM uploads WHERE id = ANY (ARRAY(
      SELECT id FROM uploads
      WHERE created_at < now() - interval '2 hours' AND NOT EXISTS (
        SELECT FROM operations
        WHERE operations.id = uploads.operation_id AND sealed_plan IS NOT NULL AND state <> 'done')
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`.execute(db);
}
