import type { Logger } from 'pino';
import { describeError } from '../log/describe-error.ts';

/** Milliseconds. Polls come every second: one that fails by itself is made up for by the next. */
const lasting = 5_000;
const over = 15_000;
const quiet = 30_000;

/**
 * Logs what pg-boss reports. What fails once is tried again by itself, which is a warning; what goes on failing for
 * five seconds is an error. One line of each in half a minute: while the database is away every poll fails.
 */
export function troubleLog(log: Pick<Logger, 'warn' | 'error'>): (error: object) => void {
  let since = 0;
  let last = 0;
  const quietUntil = { warn: 0, error: 0 };
  return (error) => {
    const now = Date.now();
    if (now - last > over) since = now;
    last = now;
    const level = now - since < lasting ? 'warn' : 'error';
    if (now < quietUntil[level]) return;
    quietUntil[level] = now + quiet;
    // pg-boss passes some errors on as plain objects.
    const cause = describeError(error instanceof Error ? error : Object.assign(new Error(), error));
    log[level]({ cause }, level === 'warn' ? 'the outbox tries something again' : 'the outbox is in trouble');
  };
}
