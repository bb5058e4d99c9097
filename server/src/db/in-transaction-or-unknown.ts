import { outcomeUnknownInDatabase } from '../problems/problem.ts';
import { mayHaveBeenSent } from './errors.ts';
import type { Db, Tx } from './kysely.ts';
import { inTransaction } from './retry.ts';

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
