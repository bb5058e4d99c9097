import { cp, rename, rm } from 'node:fs/promises';
import { errorCode } from './errors.ts';

/** Under this name, the launcher (`server/bundle/start.js`) leaves the path of a database without data, or `undefined`. */
const prepared = Symbol.for('crossward.new-database');

/**
 * Moves the database that the launcher has created and migrated, if there is one, to a path that does not exist yet. This saves
 * most of the time that PGlite takes to create one.
 *
 * @returns whether there was one
 */
export async function takeNewDatabase(path: string): Promise<boolean> {
  const source = await (globalThis as { [prepared]?: Promise<string | undefined> })[prepared];
  if (source === undefined) return false;
  try {
    await move(source, path);
    return true;
  } catch {
    // Another gateway has taken it, or it is not accessible.
    await rm(path, { recursive: true, force: true });
    return false;
  }
}

/** Only one process can rename a folder. To another file system it is copied, under a name that no other process takes. */
async function move(source: string, path: string): Promise<void> {
  try {
    await rename(source, path);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    const own = `${source}.${process.pid}`;
    await rename(source, own);
    await cp(own, path, { recursive: true });
    await rm(own, { recursive: true });
  }
}
