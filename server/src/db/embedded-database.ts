import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { makePrivateFolder } from '../startup/private-file.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { embeddedFiles } from './embedded-files.ts';
import { takeNewDatabase } from './new-database.ts';
import { PglitePool } from './pglite-pool.ts';
import { ping } from './ping.ts';
import { startPglite } from './start-pglite.ts';

/** A `Database` on PGlite. */
interface EmbeddedDatabase {
  readonly kind: 'pglite';
  readonly pool: PglitePool;
  readonly background: PglitePool;
  readonly publishing: PglitePool;
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
    const database = await pgliteDatabase(await openFiles(files));
    const close = once(() => database.close().finally(() => lock.release()));
    return { ...database, close };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openFiles(files: string): Promise<PGlite> {
  // Exists while the database is created. PGlite cannot open partially created files.
  const unfinished = `${files}.unfinished`;
  const isNew = !existsSync(files) || existsSync(unfinished);
  if (isNew) {
    await writeFile(unfinished, '');
    await rm(files, { recursive: true, force: true });
    await takeNewDatabase(files);
  }
  // PGlite creates files that every user can access.
  await makePrivateFolder(files);
  const pglite = startPglite({ dataDir: files });
  if (isNew) {
    await pglite.waitReady;
    await rm(unfinished);
  }
  return pglite;
}

/** A database on the given PGlite, which `close` closes too. */
export async function pgliteDatabase(pglite: PGlite): Promise<EmbeddedDatabase> {
  const pool = await PglitePool.open(pglite);
  const close = once(() => pool.end().then(() => pglite.close()));
  return { kind: 'pglite', pool, background: pool, publishing: pool, ping: () => ping(pool), close };
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run();
    return running;
  };
}
