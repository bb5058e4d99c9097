import { inOneTransaction } from '../db/in-one-transaction.ts';
import type { Tx } from '../db/kysely.ts';
import { Problem } from '../problems/problem.ts';
import { claimKey, type KeyRequest, newKeyedOperation, sealStored } from './claim.ts';
import { isStoredUnderKey, sealProblem } from './end.ts';
import type { OperationResponse } from './operation-response.ts';
import type { OperationServices } from './services.ts';
import { storeResponse } from './store-end.ts';
import type { Leased } from './stored-operation.ts';

/**
 * Runs a write to the gateway's own tables in one transaction.
 *
 * @throws Problem `outcome_unknown` with origin `gateway` if the answer to its COMMIT was lost
 */
export type Transact = (work: (tx: Tx) => Promise<OperationResponse>) => Promise<OperationResponse>;

interface LocalRequest {
  readonly clientId: string;
  readonly requestId: string;
  /** `undefined` without an `Idempotency-Key`. */
  readonly keyed: Pick<KeyRequest, 'key' | 'fingerprint'> | undefined;
}

/** What the key says, in place of the write: the stored problem of an earlier request, or that the key is in use. */
class KeyProblem extends Error {
  readonly problem: unknown;

  constructor(problem: unknown) {
    super('The key decides');
    this.problem = problem;
  }
}

/**
 * Like `runOnce`, for a write that calls no EHR: the key, the write and the response are one transaction. A request with a key
 * that is in use waits for that transaction and gets its response. An interrupted request has done nothing, or is replayed.
 */
export async function runLocalOnce(
  services: OperationServices,
  { clientId, requestId, keyed }: LocalRequest,
  run: (transact: Transact) => Promise<OperationResponse>,
): Promise<OperationResponse> {
  const { db, keys } = services;
  if (!keyed) return run((work) => inOneTransaction(db, work));
  const unclaimed = await newKeyedOperation(db, keys, { clientId, emr: '', careUnitId: '', ...keyed });

  /** The key's stored response, or that of the write. The key is locked until the transaction ends, so it needs no lease. */
  const underKey = (write: (tx: Tx, operation: Leased & { readonly keyHash: Buffer }) => Promise<OperationResponse>) =>
    inOneTransaction(db, async (tx) => {
      const claim = await claimKey(tx, services, unclaimed, 0).catch((error) => {
        throw error instanceof Problem ? new KeyProblem(error) : error;
      });
      if (claim.kind === 'replay') return claim.response;
      const { keyHash } = unclaimed.operation;
      // An interrupted request has done nothing: its response would be stored.
      return write(tx, claim.kind === 'interrupted' ? { ...claim.operation, keyHash } : unclaimed.operation);
    });

  try {
    return await run((work) =>
      underKey(async (tx, operation) => {
        const response = await work(tx);
        await storeResponse(tx, operation, sealStored(keys, clientId, operation.keyHash, { response }));
        return response;
      }),
    ).catch((error) => {
      if (!(error instanceof Problem) || !isStoredUnderKey(error)) throw error;
      // Nothing was written, but an earlier request with the key may have succeeded.
      return storeProblem(error);
    });
  } catch (error) {
    throw error instanceof KeyProblem ? error.problem : error;
  }

  async function storeProblem(problem: Problem): Promise<OperationResponse> {
    let isStored = false;
    const response = await underKey(async (tx, operation) => {
      await storeResponse(tx, operation, sealProblem({ keys }, { ...operation, requestId }, problem));
      isStored = true;
      return { body: {} };
    });
    if (isStored) throw problem;
    return response;
  }
}
