import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { unavailable } from '../problems/problem.ts';
import { chunkCount } from './chunks.ts';
import type { Upload } from './upload.ts';

/**
 * Makes a write the owner of an upload, in the transaction that stores its plan. The upload then lives until the
 * write ends.
 *
 * @throws Problem `database_unavailable` if the database has lost a part of it, in a crash or a failover
 */
export async function adoptUpload(tx: Tx, { id, size }: Pick<Upload, 'id' | 'size'>, writeId: string): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('uploads')
    .set({ operation_id: writeId })
    .where('id', '=', id)
    .where(
      ({ selectFrom }) => selectFrom('upload_chunks').select(sql`count(*)`.as('chunks')).where('upload_id', '=', id),
      '=',
      chunkCount(size),
    )
    .executeTakeFirst();
  if (numUpdatedRows === 0n)
    throw unavailable('database_unavailable', {
      detail: 'The database has lost a part of the content. Nothing was changed.',
    });
}

/** Deletes an upload whose write ends in this transaction. */
export async function deleteUpload(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('uploads').where('id', '=', id).execute();
}

/** Deletes an upload unless a write owns it. */
export async function discardUpload(db: Db, id: string): Promise<void> {
  await db.deleteFrom('uploads').where('id', '=', id).where('operation_id', 'is', null).execute();
}

/**
 * Deletes uploads that were left behind, such as by a killed process: two hours old, and not part of a write that may
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
