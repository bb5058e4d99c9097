import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { btree_gist } from '@electric-sql/pglite/contrib/btree_gist';
import { makePrivateFolder } from '../startup/private-file.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { embeddedFiles } from './embedded-files.ts';
import { PglitePool } from './pglite-pool.ts';
import { ping } from './ping.ts';

/** A `Database` on PGlite. */
interface EmbeddedDatabase {
  readonly kind: 'pglite';
  readonly pool: PglitePool;
  readonly background: PglitePool;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the embedded database in the folder, and creates it if it does not exist. */
export async function openEmbedded(dataDir: string): Promise<EmbeddedDatabase> {
  const folder = resolve(dataDir);
  await makePrivateFolder(folder);
  const lock = await lockDataDir(folder);
  try {
    const files = embeddedFiles(folder);
    if (!existsSync(files)) await initialise(files);
    // PGlite creates files that every user can access.
    await makePrivateFolder(files);
    const database = await pgliteDatabase(startPglite({ dataDir: files }));
    const close = once(() => database.close().finally(() => lock.release()));
    return { ...database, close };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Creates the files in a temporary folder and renames it, because PGlite cannot open partially created files. */
async function initialise(files: string): Promise<void> {
  const draft = `${files}.new`;
  await rm(draft, { recursive: true, force: true });
  const pglite = startPglite({ dataDir: draft });
  await pglite.waitReady;
  await pglite.close();
  await rename(draft, files);
}

/**
 * A PGlite with the extensions that migrations use: on disk, in memory, or in memory from a dump.
 *
 * @internal tests use it in memory
 */
export function startPglite(options: { dataDir?: string; loadDataDir?: Blob }): PGlite {
  return new PGlite({ ...options, extensions: { btree_gist } });
}

/**
 * A database on the given PGlite, which `close` closes too.
 *
 * @internal tests use it in memory
 */
export async function pgliteDatabase(pglite: PGlite): Promise<EmbeddedDatabase> {
  const pool = await PglitePool.open(pglite);
  const close = once(() => pool.end().then(() => pglite.close()));
  return { kind: 'pglite', pool, background: pool, ping: () => ping(pool), close };
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run();
    return running;
  };
}
