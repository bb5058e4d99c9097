import type { Logger } from 'pino';
import { describeError } from '../log/describe-error.ts';

/** Milliseconds. pg-boss polls every second, so a single failed poll does not matter. */
const lasting = 5_000;
const quietAfterOutage = 15_000;
const quiet = 30_000;

/**
 * Logs errors of pg-boss: as a warning at first, since pg-boss retries, and as an error after five seconds of failures. Logs
 * at most one line of each level in 30 seconds, since every poll fails while the database is unavailable.
 */
export function errorLog(log: Pick<Logger, 'warn' | 'error'>): (error: object) => void {
  let since = 0;
  let last = 0;
  const quietUntil = { warn: 0, error: 0 };
  return (error) => {
    const now = Date.now();
    if (now - last > quietAfterOutage) since = now;
    last = now;
    const level = now - since < lasting ? 'warn' : 'error';
    if (now < quietUntil[level]) return;
    quietUntil[level] = now + quiet;
    // pg-boss passes some errors on as plain objects.
    const cause = describeError(error instanceof Error ? error : Object.assign(new Error(), error));
    log[level]({ cause }, level === 'warn' ? 'outbox error, will retry' : 'outbox errors persist');
  };
}
