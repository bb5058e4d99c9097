import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { inChunks } from './chunks.ts';
import { inspectContent } from './inspect-content.ts';
import { discardUpload } from './remove-uploads.ts';
import { chunkContext, type Upload } from './upload.ts';

interface Services {
  readonly db: Db;
  readonly keys: KeyRing;
}

/** The most bytes of a content, and the error for more. */
interface Limit {
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
}

/** Stores content as it arrives, encrypted chunk by chunk. Nothing is left of it if the content breaks off. */
export async function stageUpload(
  { db, keys }: Services,
  content: AsyncIterable<Uint8Array>,
  limit: Limit,
): Promise<Upload> {
  const id = randomUUID();
  const inspector = inspectContent();
  let position = 0;
  try {
    for await (const chunk of inChunks(limited(content, limit))) {
      inspector.update(chunk);
      if (position === 0) await db.insertInto('uploads').values({ id }).execute();
      await storeChunk(db, id, position, keys.seal('upload', chunk, chunkContext(id, position)));
      position++;
    }
  } catch (error) {
    // If the database is down, background deletion removes it later.
    if (position > 0) await discardUpload(db, id).catch(() => undefined);
    throw error;
  }
  return { id, ...inspector.end() };
}

/** Reads content of a request that will be rejected, without storing it: its hash says which request it is. */
export async function inspectUpload(content: AsyncIterable<Uint8Array>, limit: Limit): Promise<Upload> {
  const inspector = inspectContent();
  for await (const chunk of inChunks(limited(content, limit))) inspector.update(chunk);
  return { id: randomUUID(), ...inspector.end() };
}

async function* limited(content: AsyncIterable<Uint8Array>, { maxBytes, tooLarge }: Limit): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > maxBytes) throw tooLarge();
    yield piece;
  }
}

/**
 * The commit does not wait for the disk: the transaction that starts the write does, and finds out whether a crash or
 * a failover of the database has lost chunks.
 */
async function storeChunk(db: Db, id: string, position: number, sealed: Buffer): Promise<void> {
  await sql`
    WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    INSERT INTO upload_chunks (upload_id, position, sealed_content)
    SELECT ${id}::uuid, ${position}::integer, ${sealed}::bytea FROM relaxed`.execute(db);
}
