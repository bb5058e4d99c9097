import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileError, readText } from './read-text.ts';

/**
 * Makes the folder, for its owner alone, unless it is there.
 *
 * @throws {ConfigurationError} when it cannot be made.
 */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw fileError(path, error);
  }
}

/**
 * The text of a file that only its owner may read. A file that is not there is made, whole or not at all, and is on
 * the disk when this returns.
 *
 * @throws {ConfigurationError} when it can be neither read nor made.
 */
export async function keepPrivateFile(path: string, make: () => string): Promise<string> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) await chmod(path, 0o600);
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

/** A new name is lost in a power cut until its folder is synced. Windows cannot, and need not. */
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
