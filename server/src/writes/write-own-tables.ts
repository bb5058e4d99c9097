import type { Tx } from '../db/kysely.ts';
import { inTransactionOrUnknown } from '../db/transactions.ts';
import { Problem } from '../problems/problem.ts';
import { claimKey, newWrite } from './claim.ts';
import { storeEnd } from './store-end.ts';
import { nothingPlanned } from './store-plan.ts';
import { isStoredUnderKey, sealOutcome } from './stored-write.ts';
import type { WriteRequest } from './write.ts';
import type { WriteResponse, WriteServices } from './write-kind.ts';

/**
 * Writes to the gateway's own tables, at most once for each `Idempotency-Key`: the key, the write and the response are one
 * transaction. A request with a key that is in use waits for that transaction and gets its response. An interrupted request has
 * done nothing, or is replayed.
 *
 * @throws Problem `outcome_unknown` with origin `gateway` if the answer to its COMMIT was lost
 */
export async function writeOwnTables(
  services: WriteServices,
  { clientId, requestId, keyed }: Pick<WriteRequest, 'clientId' | 'requestId' | 'keyed'>,
  write: (tx: Tx) => Promise<WriteResponse>,
): Promise<WriteResponse> {
  const { db, keys } = services;
  if (!keyed) return inTransactionOrUnknown(db, write);
  const leased = await newWrite(services, { clientId, requestId, emr: '', careUnitId: '', keyed });

  /** The outcome of the key, or of `write`, which is then stored under the key. */
  const once = (write: (tx: Tx) => Promise<WriteResponse | Problem>) =>
    inTransactionOrUnknown(db, async (tx) => {
      // The key is locked until the transaction ends, so it needs no lease.
      const claim = await claimKey(tx, services, leased, { ...nothingPlanned, leaseSeconds: 0 });
      if (claim.state === 'answered') return claim.outcome;
      const { id, token } = claim.state === 'interrupted' ? claim.leased : leased;
      const outcome = await write(tx);
      const sealedResponse = sealOutcome(keys, leased, outcome);
      await storeEnd(tx, 'answered', { ...leased, id, token, sealedResponse });
      return outcome;
    });

  const outcome = await once(write).catch((error) => {
    if (!(error instanceof Problem) || !isStoredUnderKey(error)) throw error;
    return once(async () => error);
  });
  if (outcome instanceof Problem) throw outcome;
  return outcome;
}
