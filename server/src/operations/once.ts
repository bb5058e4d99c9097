import { randomUUID } from 'node:crypto';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { keptProblem, Problem } from '../problems/problem.ts';
import type { Answer } from './answer.ts';
import { claimKey, inProgress, type KeyRequest, sealKept } from './claim.ts';
import { Ended, isKept } from './end.ts';
import { LeaseLost } from './errors.ts';
import { type Decide, execute } from './execute.ts';
import type { OperationKind } from './kind.ts';
import { releaseLease } from './lease.ts';
import { resume } from './resume.ts';
import type { OperationServices } from './services.ts';
import { monitor, removeOperation, storeAnswer } from './store-end.ts';
import type { Leased } from './stored-operation.ts';
import { leaseSeconds } from './work.ts';

/** A request that writes, as far as it makes a difference here. */
export interface WriteRequest {
  readonly clientId: string;
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
  readonly requestId: string;
  /** Where an `Idempotency-Key` was sent: the key, and what makes the request the same one. */
  readonly keyed: Pick<KeyRequest, 'key' | 'fingerprint'> | undefined;
}

/** Carries out a plan of this request. */
export type Execute = <Plan, Outcome>(
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  decide?: Decide,
) => Promise<Answer>;

/**
 * Runs a write at most once for each `Idempotency-Key`: a second request with the key gets the first answer, and one
 * that finds the first one broken off finishes what that has begun.
 */
export async function answerOnce(
  services: OperationServices,
  request: WriteRequest,
  run: (execute: Execute) => Promise<Answer>,
): Promise<Answer> {
  const { ehr, careUnit, clientId, keyed } = request;
  if (!keyed) return run(executor(services, request, newOperation(request)).execute).catch(told);
  const leasedAt = performance.now();
  const claim = await claimKey(services.db, services.keys, {
    clientId,
    emr: ehr.id,
    careUnitId: careUnit.id,
    ...keyed,
    leaseSeconds: leaseSeconds(ehr),
  });
  if (claim.kind === 'replay') return claim.answer;
  const claimed = { ...claim.operation, requestId: request.requestId };
  const resumed =
    claim.kind === 'begun'
      ? await resume(services, { ...claim.operation, ...claimed }, leasedAt).catch(told)
      : undefined;
  if (resumed && 'body' in resumed) return resumed;
  const operation = resumed ? { ...resumed.anew, requestId: request.requestId } : claimed;
  const executing = executor(services, request, operation);
  try {
    return await run(executing.execute);
  } catch (error) {
    if (!executing.hasEnded()) await settle(services, operation, request, error);
    return told(error);
  }
}

/** Carries plans out, and notes whether the row of the operation says already what is to be said. */
function executor(services: OperationServices, { ehr, careUnit }: WriteRequest, operation: Leased) {
  let hasEnded = false;
  const run: Execute = async (kind, plan, decide) => {
    try {
      return await execute({ services, ehr, careUnit, operation }, kind, plan, decide);
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
      hasEnded = true;
      throw error.problem;
    }
  };
  return { execute: run, hasEnded: () => hasEnded };
}

function newOperation({ clientId, ehr, careUnit }: WriteRequest): Leased {
  return {
    id: randomUUID(),
    clientId,
    emr: ehr.id,
    careUnitId: careUnit.id,
    keyHash: undefined,
    token: randomUUID(),
    attempt: 0,
  };
}

function told(error: unknown): never {
  if (error instanceof LeaseLost) throw inProgress();
  throw error instanceof Ended ? error.problem : error;
}

/**
 * What becomes of a key whose request was refused before the EHR was asked for anything. Final refusals are kept; what
 * depends on the moment leaves no trace; after a failure a retry begins anew. What was asked for before is monitored on.
 */
async function settle(
  { db, keys }: OperationServices,
  operation: Leased,
  { clientId, requestId, ehr }: WriteRequest,
  error: unknown,
): Promise<void> {
  const { keyHash, isMonitored } = operation;
  if (keyHash === undefined || error instanceof LeaseLost) return;
  const isRefusal = error instanceof Problem && error.status < 500 && error.reason !== 'idempotency_in_progress';
  const sealed =
    isRefusal && isKept(error)
      ? sealKept(keys, clientId, keyHash, { problem: keptProblem(error, requestId) })
      : undefined;
  const settled = () => {
    if (isMonitored) return monitor(db, operation, ehr.patience.settlingSeconds, sealed);
    if (!isRefusal) return releaseLease(db, operation);
    return sealed ? storeAnswer(db, operation, sealed) : removeOperation(db, operation);
  };
  await settled().catch((failure) => {
    // Somebody else has the key by now, and answers in its own name.
    if (!(failure instanceof LeaseLost)) throw failure;
  });
}
