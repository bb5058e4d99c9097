import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError } from '../errors.ts';
import { type InTurn, turnsInProcess } from '../in-turn.ts';

/** Those of the tests of this process. */
const folders = new Set<string>();
const lostName = 'lost';

const longestWaitMilliseconds = 60_000;

/**
 * Turns of the processes of a test, as all gateways of a database take them: give it to the connector as `inTurn`, in the test and
 * in the process of `second`. A file says that somebody has a turn.
 *
 * @param folder an empty one
 */
export function turnsOverProcesses(folder: string): InTurn {
  const inProcess = turnsInProcess();
  folders.add(folder);
  return async (key, run) => {
    if (existsSync(join(folder, lostName))) return run();
    return inProcess(key, async () => {
      const file = join(folder, createHash('sha256').update(key).digest('hex'));
      for (const since = performance.now(); !(await isCreated(file)); await sleep(5)) {
        if (performance.now() - since < longestWaitMilliseconds) continue;
        throw new ConnectorError('unavailable', 'The turn does not come');
      }
      try {
        return await run();
      } finally {
        await rm(file);
      }
    });
  };
}

/**
 * Runs something while all turns are lost: each call gets its own at once, whoever else has it. `undefined`: no connector takes
 * turns, and nothing was run.
 */
export async function withLostTurns<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
  // The folders of tests that have ended are gone.
  const marks = [...folders].filter((it) => existsSync(it)).map((it) => join(it, lostName));
  if (marks.length === 0) return undefined;
  await Promise.all(marks.map((it) => writeFile(it, '')));
  try {
    return await run();
  } finally {
    await Promise.all(marks.map((it) => rm(it, { force: true })));
  }
}

async function isCreated(file: string): Promise<boolean> {
  try {
    await (await open(file, 'wx')).close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
