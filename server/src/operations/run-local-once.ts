import type { Tx } from '../db/kysely.ts';
import { retryTransaction } from '../db/retry.ts';
import { keptProblem, Problem } from '../problems/problem.ts';
import { claimKey, inProgress, type KeyRequest, newKeyedOperation, sealStored } from './claim.ts';
import { isStoredUnderKey } from './end.ts';
import { LeaseLost } from './errors.ts';
import type { OperationResponse } from './operation-response.ts';
import type { OperationServices } from './services.ts';
import { removeOperation, storeResponse } from './store-end.ts';

/** Runs a write to the gateway's own tables in one transaction. */
export type Transact = (work: (tx: Tx) => Promise<OperationResponse>) => Promise<OperationResponse>;

interface LocalRequest {
  readonly clientId: string;
  readonly requestId: string;
  /** `undefined` without an `Idempotency-Key`. */
  readonly keyed: Pick<KeyRequest, 'key' | 'fingerprint'> | undefined;
}

/** Longer than any transaction. */
const leaseSeconds = 60;

/**
 * Like `runOnce`, for a write that calls no EHR. The response is stored in the transaction that makes the write, so an
 * interrupted request has either done nothing or is replayed.
 */
export async function runLocalOnce(
  { db, keys }: OperationServices,
  { clientId, requestId, keyed }: LocalRequest,
  run: (transact: Transact) => Promise<OperationResponse>,
): Promise<OperationResponse> {
  const inTransaction: Transact = (work) => retryTransaction(() => db.transaction().execute(work));
  if (!keyed) return run(inTransaction);
  const unclaimed = await newKeyedOperation(db, keys, { clientId, emr: '', careUnitId: '', ...keyed });
  const claim = await claimKey(db, keys, unclaimed, leaseSeconds);
  if (claim.kind === 'replay') return claim.response;
  // An interrupted request has done nothing: its response would be stored.
  const operation = claim.kind === 'interrupted' ? claim.operation : unclaimed.operation;
  const seal = (kept: Parameters<typeof sealStored>[3]) =>
    operation.keyHash && sealStored(keys, clientId, operation.keyHash, kept);
  try {
    return await run((work) =>
      inTransaction(async (tx) => {
        const response = await work(tx);
        await storeResponse(tx, operation, seal({ response }));
        return response;
      }),
    );
  } catch (error) {
    const isFinal = error instanceof Problem && isStoredUnderKey(error);
    const ended = isFinal
      ? storeResponse(db, operation, seal({ problem: keptProblem(error, requestId) }))
      : removeOperation(db, operation);
    await ended.catch((failure) => {
      // Another request has claimed the key by now, and responds for itself.
      if (!(failure instanceof LeaseLost)) throw failure;
    });
    throw error instanceof LeaseLost ? inProgress() : error;
  }
}
