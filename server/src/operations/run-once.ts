import { randomUUID } from 'node:crypto';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { keptProblem, Problem } from '../problems/problem.ts';
import { claimKey, inProgress, type KeyRequest, sealStored } from './claim.ts';
import { isStoredUnderKey, OperationEnded } from './end.ts';
import { LeaseLost } from './errors.ts';
import { type Decide, execute } from './execute.ts';
import type { OperationKind } from './kind.ts';
import { releaseLease } from './lease.ts';
import type { OperationResponse } from './operation-response.ts';
import { resume } from './resume.ts';
import type { OperationServices } from './services.ts';
import { monitor, removeOperation, storeResponse } from './store-end.ts';
import type { Leased } from './stored-operation.ts';
import { leaseSeconds } from './work.ts';

/** What `runOnce` needs to know about a write request. */
export interface WriteRequest {
  readonly clientId: string;
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
  readonly requestId: string;
  /** The `Idempotency-Key` and the fingerprint of the request. `undefined` without a key. */
  readonly keyed: Pick<KeyRequest, 'key' | 'fingerprint'> | undefined;
}

/** Executes a plan of this request. */
export type Execute = <Plan, Outcome>(
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  decide?: Decide,
) => Promise<OperationResponse>;

/**
 * Runs a write at most once for each `Idempotency-Key`. A second request with the key gets the stored response. If the
 * first request was interrupted, the second one finishes its operation.
 */
export async function runOnce(
  services: OperationServices,
  request: WriteRequest,
  run: (execute: Execute) => Promise<OperationResponse>,
): Promise<OperationResponse> {
  const { ehr, careUnit, clientId, keyed } = request;
  if (!keyed) return run(executor(services, request, newOperation(request)).execute).catch(throwProblem);
  const leasedAt = performance.now();
  const claim = await claimKey(services.db, services.keys, {
    clientId,
    emr: ehr.id,
    careUnitId: careUnit.id,
    ...keyed,
    leaseSeconds: leaseSeconds(ehr),
  });
  if (claim.kind === 'replay') return claim.response;
  const claimed = { ...claim.operation, requestId: request.requestId };
  const resumed =
    claim.kind === 'interrupted'
      ? await resume(services, { ...claim.operation, ...claimed }, leasedAt).catch(throwProblem)
      : undefined;
  if (resumed && 'body' in resumed) return resumed;
  const operation = resumed ? { ...resumed.restart, requestId: request.requestId } : claimed;
  const executing = executor(services, request, operation);
  try {
    return await run(executing.execute);
  } catch (error) {
    if (!executing.hasEnded()) await settle(services, operation, request, error);
    return throwProblem(error);
  }
}

/** Executes plans, and remembers whether the operation has ended. */
function executor(services: OperationServices, { ehr, careUnit }: WriteRequest, operation: Leased) {
  let hasEnded = false;
  const run: Execute = async (kind, plan, decide) => {
    try {
      return await execute({ services, ehr, careUnit, operation }, kind, plan, decide);
    } catch (error) {
      if (!(error instanceof OperationEnded)) throw error;
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

function throwProblem(error: unknown): never {
  if (error instanceof LeaseLost) throw inProgress();
  throw error instanceof OperationEnded ? error.problem : error;
}

/**
 * Settles the key of a request that failed before the EHR was called. A final problem is stored under the key. A problem
 * that depends on the moment is not. After a failure, a retry starts over. An earlier attempt stays monitored.
 */
async function settle(
  { db, keys }: OperationServices,
  operation: Leased,
  { clientId, requestId, ehr }: WriteRequest,
  error: unknown,
): Promise<void> {
  const { keyHash, isMonitored } = operation;
  if (keyHash === undefined || error instanceof LeaseLost) return;
  const isClientError = error instanceof Problem && error.status < 500 && error.reason !== 'idempotency_in_progress';
  const sealed =
    isClientError && isStoredUnderKey(error)
      ? sealStored(keys, clientId, keyHash, { problem: keptProblem(error, requestId) })
      : undefined;
  const settled = () => {
    if (isMonitored) return monitor(db, operation, ehr.patience.settlingSeconds, sealed);
    if (!isClientError) return releaseLease(db, operation);
    return sealed ? storeResponse(db, operation, sealed) : removeOperation(db, operation);
  };
  await settled().catch((failure) => {
    // Another request has claimed the key by now, and responds for itself.
    if (!(failure instanceof LeaseLost)) throw failure;
  });
}
