import { currentContext, type DatabaseTime, within } from '../context/work-context.ts';
import { ofDatabase } from './errors.ts';

/** Milliseconds that a request may wait for the database, all its statements together. */
const ofRequest = 30_000;
/** Milliseconds that each statement gets at least, so that the rest of a request can be noted, such as its audit entry. */
const least = 2_000;
/** Milliseconds. A timer that is this late belongs to a process that was stopped, or to a machine that was suspended. */
const asleep = 1_000;
/** Milliseconds in which an answer may still arrive after that, or the rest of one that has begun to arrive. */
const grace = 5_000;

/**
 * The result, unless nothing arrives within `milliseconds`: then rejects with the message of node-postgres, `Query read timeout`.
 *
 * A process that was stopped runs its due timers before it reads its sockets. An answer may have arrived long ago, so what is
 * there is read first.
 *
 * @param bytesRead how many bytes have arrived on the connection. Default: the result depends on no connection of its own
 */
export function withinTime<Result>(
  result: Promise<Result>,
  milliseconds: number,
  bytesRead: () => number = () => 0,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let isSettled = false;
    let timer = start(milliseconds);
    const settle = () => {
      isSettled = true;
      clearTimeout(timer);
    };
    void result.then(resolve, reject).then(settle);

    function start(pause: number): NodeJS.Timeout {
      const due = performance.now() + pause;
      return setTimeout(() => {
        if (performance.now() - due > asleep) timer = start(grace);
        else readThenJudge();
      }, pause);
    }

    function readThenJudge(): void {
      const before = bytesRead();
      // Sockets are read between timers and immediates. What was scheduled there runs before the second one.
      setImmediate(() =>
        setImmediate(() => {
          if (isSettled) return;
          if (bytesRead() > before) timer = start(grace);
          else reject(ofDatabase(new Error('Query read timeout')));
        }),
      );
    }
  });
}

export function newDatabaseTime(): DatabaseTime {
  return { milliseconds: ofRequest };
}

/** Runs `work` so that each of its statements takes at most two seconds. */
export function briefly<Result>(work: () => Result): Result {
  return within({ databaseTime: { milliseconds: 0 } }, work);
}

/** Milliseconds that a statement may take. `undefined`: the work has no limit of its own. */
export function databaseTimeLeft(): number | undefined {
  const { databaseTime } = currentContext();
  return databaseTime && Math.max(least, databaseTime.milliseconds);
}

/** @param since by `performance.now()` */
export function spendDatabaseTime(since: number): void {
  const { databaseTime } = currentContext();
  if (databaseTime) databaseTime.milliseconds -= performance.now() - since;
}
