import { setTimeout as pause } from 'node:timers/promises';
import { ConnectorError } from '@crossward/connector-kit';

const most = 20;

/**
 * Repeats an attempt that found the records changed by the time that it wrote. A failed attempt has changed nothing, and
 * returns `undefined`.
 *
 * @throws ConnectorError `unavailable` if the records keep changing
 */
export async function untilUnchanged<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let round = 1; round <= most; round++) {
    const result = await attempt();
    if (result !== undefined) return result;
    // Random, so that calls that met do not meet again.
    await pause(Math.random() * 10 * round);
  }
  throw new ConnectorError('unavailable', 'The appointments kept changing during the write; nothing was written');
}
