import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigurationError } from './configuration-error.ts';
import { fileError, readText } from './read-text.ts';

const openToOthers = 0o077;

/**
 * Creates a folder that only its owner can access, or restricts an existing one. Windows has no such permissions; there the
 * folder inherits those of its parent.
 *
 * @returns whether other users could access it until now
 * @throws {ConfigurationError} when it cannot be created, belongs to another user, or cannot be restricted
 */
export async function makePrivateFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const { uid, mode } = await stat(path);
    const user = process.getuid?.();
    if (user === undefined) return false;
    if (uid !== user) {
      throw new ConfigurationError([
        `${path}: belongs to another user (${uid}, not ${user}), who could read and change what is in it; ` +
          'change its owner to the user that runs this, or use a new folder inside it',
      ]);
    }
    if ((mode & openToOthers) === 0) return false;
    await chmod(path, 0o700).catch(() => undefined);
    if (((await stat(path)).mode & openToOthers) === 0) return true;
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw fileError(path, error);
  }
  throw new ConfigurationError([
    `${path}: is accessible to other users of this machine, and its file system does not support permissions; ` +
      'use a folder on another file system',
  ]);
}

/**
 * Reads a file that only its owner may read. Creates a missing file atomically, and syncs it to the disk.
 *
 * @throws {ConfigurationError} when the file can be neither read nor created
 */
export async function keepPrivateFile(path: string, make: () => string): Promise<string> {
  try {
    const { mode } = await stat(path);
    if ((mode & openToOthers) !== 0) await chmod(path, 0o600);
  } catch (error) {
    if (!isMissing(error)) throw fileError(path, error);
    await writePrivateFile(path, make());
  }
  return await readText(path);
}

async function writePrivateFile(path: string, text: string): Promise<void> {
  const draft = `${path}.tmp`;
  try {
    await rm(draft, { force: true });
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncFolder(dirname(path));
  } catch (error) {
    throw fileError(path, error);
  }
}

/** Until the folder is synced, a power cut can lose the new name. Windows does not need it. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
