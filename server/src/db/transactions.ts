import { setTimeout as sleep } from 'node:timers/promises';
import { outcomeUnknownInDatabase } from '../problems/problem.ts';
import { sinceBoot } from '../time/since-boot.ts';
import { canBeRepeatedAtOnce, isSerializationFailure, isStaleStatement, mayHaveBeenSent } from './errors.ts';
import type { Db, Tx } from './kysely.ts';

const attempts = 6;
const firstDelay = 8;

/**
 * Retries a whole transaction that the database has not committed: after a conflict (40001, 40P01), a prepared statement
 * made stale by a migration, or a connection that failed before COMMIT was sent. Makes at most six attempts, with random
 * delays of up to 8, 16, 32, 64 and 128 milliseconds. `fn` must start and end its own transaction. Throws the error of the
 * last attempt; throws other errors at once, among them a connection that failed during COMMIT, and a database that has let
 * the transaction wait until it gave up.
 */
export async function retryTransaction<T>(fn: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await fn();
    } catch (error) {
      const canRetry = isSerializationFailure(error) || isStaleStatement(error) || canBeRepeatedAtOnce(error);
      if (attempt === attempts || !canRetry) throw error;
      await sleep(Math.random() * firstDelay * 2 ** (attempt - 1));
    }
  }
}

/**
 * Does work in one transaction, again if the database has not committed it: see `retryTransaction`.
 *
 * @param work gets the time by `sinceBoot` at which the transaction was requested: `now()` is not earlier
 */
export function inTransaction<Result>(db: Db, work: (tx: Tx, begunAt: number) => Promise<Result>): Promise<Result> {
  return retryTransaction(() => {
    const begunAt = sinceBoot();
    return db.transaction().execute((tx) => work(tx, begunAt));
  });
}

/**
 * Runs a write to the gateway's own tables in one transaction, again if the database has not committed it.
 *
 * @throws Problem `outcome_unknown` with origin `gateway` if the answer to COMMIT was lost: the write may be stored, or may
 * still become so. Any other error of the database means that nothing was stored
 */
export async function inTransactionOrUnknown<Result>(db: Db, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  try {
    return await inTransaction(db, work);
  } catch (error) {
    throw mayHaveBeenSent(error) ? outcomeUnknownInDatabase(error) : error;
  }
}
