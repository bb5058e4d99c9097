import { type Kysely, sql } from 'kysely';
import type { SandboxTables } from './tables.ts';

type Db = Kysely<SandboxTables>;

/**
 * Stores content chunk by chunk, each with a statement of its own: the next chunk may come from the same database, which can
 * have a single connection.
 */
export async function storeContent(
  db: Db,
  emr: string,
  contentId: string,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  let position = 0;
  for await (const chunk of content) {
    await db
      .insertInto('sandbox.document_chunks')
      .values({
        emr,
        content_id: contentId,
        position,
        content: Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length),
      })
      .execute();
    position++;
  }
}

/** Reads content chunk by chunk. */
export async function* readContent(db: Db, emr: string, contentId: string): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; position++) {
    const row = await db
      .selectFrom('sandbox.document_chunks')
      .select('content')
      .where('emr', '=', emr)
      .where('content_id', '=', contentId)
      .where('position', '=', position)
      .executeTakeFirst();
    if (!row) return;
    yield row.content;
  }
}

/** Deletes content unless a document refers to it. */
export async function deleteContent(db: Db, emr: string, contentId: string): Promise<void> {
  await sql`
    DELETE FROM sandbox.document_chunks WHERE emr = ${emr} AND content_id = ${contentId}
      AND NOT EXISTS (SELECT FROM sandbox.documents WHERE emr = ${emr} AND content_id = ${contentId})`.execute(db);
}
