import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigurationError } from './configuration-error.ts';
import { fileError, readText } from './read-text.ts';

const openToOthers = 0o077;

/**
 * Creates the folder with access for its owner only. Removes the access of others from an existing folder. On Windows,
 * the folder inherits the permissions of its parent.
 *
 * @returns whether others had access to an existing folder
 * @throws {ConfigurationError} if it cannot be created, belongs to another user, or its permissions cannot be changed
 */
export async function makePrivateFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const { uid, mode } = await stat(path);
    const user = process.getuid?.();
    if (user === undefined) return false;
    if (uid !== user) {
      throw new ConfigurationError([
        `${path}: belongs to another user (${uid}, not ${user}), who could read and change its contents; ` +
          'change its owner, or use a new folder inside it',
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
    `${path}: is accessible to other users, and its file system does not support permissions; ` +
      'use a folder on another file system',
  ]);
}

/**
 * Reads a file that only its owner can read. Creates a missing file atomically and syncs it to disk.
 *
 * @throws {ConfigurationError} if it can be neither read nor created
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

/** A power cut can lose a new file until its folder is synced. Not supported on Windows. */
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
