import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { chunkContext, type Upload } from './upload.ts';

interface Services {
  readonly db: Db;
  readonly keys: KeyRing;
}

/**
 * Reads content from its beginning. Each chunk is one query: no database connection is held in between.
 *
 * @throws Error if a part is missing, or was encrypted with an unknown secret key
 */
export async function* readUpload(
  { db, keys }: Services,
  { id, size }: Pick<Upload, 'id' | 'size'>,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  for (let position = 0; read < size; position++) {
    const row = await db
      .selectFrom('upload_chunks')
      .select('sealed_content')
      .where('upload_id', '=', id)
      .where('position', '=', position)
      .executeTakeFirst();
    if (!row) throw new Error('A part of an upload is missing');
    const chunk = keys.openBytes('upload', row.sealed_content, chunkContext(id, position));
    if (!chunk) throw new Error('An upload cannot be decrypted: its secret key is unknown');
    read += chunk.length;
    yield chunk;
  }
}
