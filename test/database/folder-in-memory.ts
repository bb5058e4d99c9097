import { statfs } from 'node:fs/promises';
import { createRunFolder } from './embedded-postgres.ts';

/** Where Linux keeps files in memory. */
const parent = '/dev/shm';
/** The databases of a test run take about one gibibyte. */
const neededBytes = 4 * 2 ** 30;

/** Creates a folder for one test run in memory. Returns `undefined` if the machine has not enough. */
export async function createFolderInMemory(): Promise<string | undefined> {
  const free = await statfs(parent).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return Math.min(free, process.availableMemory()) >= neededBytes ? await createRunFolder(parent) : undefined;
}
