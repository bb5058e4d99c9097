import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError } from '../errors.ts';
import { type InTurn, turnsInProcess } from '../in-turn.ts';

const longestWaitMilliseconds = 60_000;

/**
 * Turns of the processes of a test, as all gateways of a database take them: give it to the connector as `inTurn`, in the test and
 * in the process of `second`. A file says that somebody has a turn.
 *
 * @param folder an empty one
 */
export function turnsOverProcesses(folder: string): InTurn {
  const inProcess = turnsInProcess();
  return (key, run) =>
    inProcess(key, async () => {
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
