import { appendFile, readFile } from 'node:fs/promises';

/** The file with a line for each test that has passed. Unset: a run is not resumed. */
const file = process.env.CRASH_POINTS_STATE;

const lines = file === undefined ? [] : (await readFile(file, 'utf8').catch(() => '')).split('\n');
const passed = new Set(lines);

/** Whether an earlier run with the same state file has passed the test. */
export const hasPassed = (name: string): boolean => passed.has(name);

/** Stores that the test has passed. */
export async function recordPassed(name: string): Promise<void> {
  if (file !== undefined) await appendFile(file, `${name}\n`);
}
