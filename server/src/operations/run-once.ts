import { randomUUID } from 'node:crypto';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { keptProblem, Problem } from '../problems/problem.ts';
import { sinceBoot } from '../time/since-boot.ts';
import {
  type Claim,
  claimKey,
  findStored,
  inProgress,
  type KeyRequest,
  newKeyedOperation,
  sealStored,
  type Unclaimed,
  whileRunning,
} from './claim.ts';
import { isStoredUnderKey, OperationEnded } from './end.ts';
import { LeaseLost } from './errors.ts';
import { type Decide, execute } from './execute.ts';
import type { OperationKind } from './kind.ts';
import { releaseLease } from './lease.ts';
import type { OperationResponse } from './operation-response.ts';
import { resume } from './resume.ts';
import type { OperationServices } from './services.ts';
import { monitor, removeOperation, storeResponse } from './store-end.ts';
import type { Planned } from './store-plan.ts';
import type { Leased } from './stored-operation.ts';
import { unlessStored } from './unless-stored.ts';
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
 *
 * The key is claimed when the plan is executed, if possible in the statement that stores the plan. A request that fails
 * before claims the key then, because an earlier request may have succeeded. While the EHR takes long to look up what the
 * plan needs, the stored response is looked for.
 */
export async function runOnce(
  services: OperationServices,
  request: WriteRequest,
  run: (execute: Execute) => Promise<OperationResponse>,
): Promise<OperationResponse> {
  const { ehr, careUnit, clientId, requestId, keyed } = request;
  if (!keyed) return run(executor(services, request, newOperation(request)).execute).catch(throwProblem);
  const place = { clientId, emr: ehr.id, careUnitId: careUnit.id };
  const unclaimed = await newKeyedOperation(services.db, services.keys, { ...place, ...keyed });
  const key = claimOnce(services, request, unclaimed);
  try {
    const operation = { ...unclaimed.operation, requestId };
    const running = whileRunning(services, operation, () => runKeyed(services, request, operation, run, key));
    return await unlessStored(running, async () => {
      const stored = await findStored(services.db, services.keys, unclaimed);
      return key.state() === 'unclaimed' ? stored : undefined;
    });
  } catch (error) {
    if (!(error instanceof KeyTaken)) throw error;
    if (error.claim.kind === 'replay') return error.claim.response;
    const stored = { ...error.claim.operation, requestId };
    const { leasedAt } = error;
    return whileRunning(services, stored, async () => {
      const resumed = await resume(services, stored, leasedAt).catch(throwProblem);
      return 'body' in resumed ? resumed : runKeyed(services, request, { ...resumed.restart, requestId }, run);
    });
  }
}

/** @throws KeyTaken when an earlier request has claimed the key */
async function runKeyed(
  services: OperationServices,
  request: WriteRequest,
  operation: Leased,
  run: (execute: Execute) => Promise<OperationResponse>,
  key?: ClaimedOnce,
): Promise<OperationResponse> {
  const executing = executor(services, request, operation, key);
  try {
    return await run(executing.execute);
  } catch (error) {
    if (key?.state() === 'taken') throw error;
    if (key?.state() === 'unclaimed') await key.claim();
    if (!executing.hasEnded()) await settle(services, operation, request, error);
    return throwProblem(error);
  }
}

interface ClaimedOnce {
  /** `taken`: by another request, whose outcome was thrown. */
  state(): 'unclaimed' | 'claimed' | 'taken';
  /** @throws KeyTaken; Problem `idempotency_key_reused`, `idempotency_in_progress`, or the first request's */
  claim(planned?: Planned): Promise<Date | null>;
}

function claimOnce(services: OperationServices, { ehr }: WriteRequest, unclaimed: Unclaimed): ClaimedOnce {
  let state: ReturnType<ClaimedOnce['state']> = 'unclaimed';
  return {
    state: () => state,
    async claim(planned) {
      // After a failure of the database, the key may be claimed.
      state = 'claimed';
      const leasedAt = sinceBoot();
      try {
        const claim = await claimKey(services.db, services, unclaimed, leaseSeconds(ehr), planned);
        if (claim.kind !== 'new') throw new KeyTaken(claim, leasedAt);
        return claim.expiresAt;
      } catch (error) {
        if (error instanceof Problem || error instanceof KeyTaken) state = 'taken';
        throw error;
      }
    },
  };
}

/** An earlier request with the key has started the operation. */
class KeyTaken extends Error {
  readonly claim: Exclude<Claim, { readonly kind: 'new' }>;
  /** When its lease was requested, by `sinceBoot`. */
  readonly leasedAt: number;

  constructor(claim: KeyTaken['claim'], leasedAt: number) {
    super('The idempotency key is taken');
    this.claim = claim;
    this.leasedAt = leasedAt;
  }
}

/** Executes plans, and remembers whether the operation has ended. */
function executor(services: OperationServices, { ehr, careUnit }: WriteRequest, operation: Leased, key?: ClaimedOnce) {
  let hasEnded = false;
  const run: Execute = async (kind, plan, decide) => {
    const claim = key?.state() === 'unclaimed' ? key.claim : undefined;
    try {
      return await execute({ services, ehr, careUnit, operation, claim }, kind, plan, decide);
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
