import { beganOperation } from '../audit/current-access.ts';
import { patientHashes } from '../confirmations/limits.ts';
import { mayHaveBeenSent } from '../db/errors.ts';
import type { Tx } from '../db/kysely.ts';
import { retryTransaction } from '../db/retry.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { outcomeUnknownInDatabase, type Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { sinceBoot } from '../time/since-boot.ts';
import { inProgress } from './claim.ts';
import {
  finish,
  inTransaction,
  isStoredUnderKey,
  leaveOpen,
  OperationEnded,
  recordsOf,
  rejectOperation,
  releaseSoon,
  sealProblem,
  sealResponse,
} from './end.ts';
import { isFinal, isSettled, LeaseLost } from './errors.ts';
import type { OperationKind } from './kind.ts';
import type { OperationResponse } from './operation-response.ts';
import { draftsOf, noteRecorded } from './record-end.ts';
import type { OperationServices } from './services.ts';
import { monitor, storeResponse, writeRecords } from './store-end.ts';
import { type Planned, storePlan } from './store-plan.ts';
import { type Leased, sealPlan } from './stored-operation.ts';
import { leaseSeconds, type Run, startRun } from './work.ts';

/**
 * Runs in the transaction that starts an operation. If it returns a problem, its changes are committed. If it throws one,
 * they are rolled back. Either way the problem is reported.
 */
export type Decide = (tx: Tx, operationId: string) => Promise<Problem | undefined>;

export interface ExecuteContext {
  readonly services: OperationServices;
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
  readonly operation: Leased;
  /**
   * Claims the key, and stores the plan with it. Absent: the key is claimed, or there is none. Throws unless the operation
   * is new.
   */
  readonly claim?: ((planned?: Planned) => Promise<Date | null>) | undefined;
}

/**
 * Executes a plan. The plan is stored before the EHR is called. Afterwards, the gateway's records and the response are
 * stored in one transaction. No database connection is held in between. A retry or background recovery finishes
 * interrupted operations.
 */
export async function execute<Plan, Outcome>(
  context: ExecuteContext,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  decide?: Decide,
): Promise<OperationResponse> {
  beganOperation(context.operation.id);
  return kind.callsEhr(plan)
    ? perform(await begin(context, kind, plan, decide), kind, plan)
    : endAtOnce(context, kind, plan, decide);
}

async function begin<Plan, Outcome>(
  context: ExecuteContext,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  decide: Decide | undefined,
): Promise<Run> {
  const { services, ehr, careUnit, operation, claim } = context;
  const planned = plannedFor(context, kind, plan);
  let leasedAt = sinceBoot();
  const store = async () => {
    if (!decide) return claim ? claim(planned) : storePlan(services.db, operation, planned);
    return retryTransaction(() => {
      // `now()` is the start of the transaction, and the decision may wait for locks.
      leasedAt = sinceBoot();
      return services.db.transaction().execute(async (tx) => {
        const problem = await decide(tx, operation.id);
        if (problem) return endDecided(tx, context, kind.patientsOf(plan), problem);
        return storePlan(tx, operation, planned);
      });
    });
  };
  // A claim without a plan does nothing, also if it arrives late.
  if (decide) await claim?.();
  const stored = await store().catch((error) => throwUnstored(services, operation, error));
  if (stored instanceof Error) throwDecided(stored);
  return startRun(services, { ehr, careUnit }, operation, {
    expiresAt: stored,
    isFirst: !operation.isMonitored,
    hasCaller: true,
    leasedAt,
    patients: kind.patientsOf(plan),
  });
}

/**
 * Ends an operation in the transaction that decided on a problem: the problem is stored under the key, so that what it counted
 * is counted once for the key and only under the lease. Its audit entry is written too. Returns what reports the problem.
 */
async function endDecided(
  tx: Tx,
  { services, ehr, operation }: ExecuteContext,
  patients: readonly string[],
  problem: Problem,
): Promise<Problem | DecidedAgainst> {
  // Another request is at work, and nothing was counted.
  if (!isStoredUnderKey(problem)) return problem;
  const sealed = sealProblem(services, operation, problem);
  if (sealed && operation.isMonitored) await monitor(tx, operation, ehr.patience.settlingSeconds, sealed);
  else if (sealed) await storeResponse(tx, operation, sealed);
  await writeRecords(tx, { drafts: draftsOf({ services, operation, patients }, problem.reason) });
  return new DecidedAgainst(problem);
}

/** The transaction that starts the operation has ended it with a problem. */
class DecidedAgainst extends OperationEnded {
  readonly reason: Reason;

  constructor(problem: Problem) {
    super(problem);
    this.reason = problem.reason;
  }
}

/** The transaction has committed. */
function throwDecided(error: Problem | DecidedAgainst): never {
  if (error instanceof DecidedAgainst) noteRecorded(error.reason);
  throw error;
}

/**
 * Reports that a plan, or an operation that needs no EHR, was not stored. If the answer of the commit was lost, nothing is
 * known: it may be stored, or may still become so. Its row is left to a retry and to background recovery.
 */
async function throwUnstored({ db }: OperationServices, operation: Leased, error: unknown): Promise<never> {
  // Another request with the same key holds the lease, and this one has done nothing.
  if (error instanceof LeaseLost) throw inProgress();
  if (!mayHaveBeenSent(error)) throw error;
  await releaseSoon(db, operation);
  throw new OperationEnded(outcomeUnknownInDatabase(error));
}

/** What is stored before the EHR is called. */
export function plannedFor<Plan, Outcome>(
  { services, ehr, careUnit, operation }: Pick<ExecuteContext, 'services' | 'ehr' | 'careUnit' | 'operation'>,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
): Planned {
  const patients = kind.codesFor(plan);
  return {
    kind: kind.name,
    sealedPlan: sealPlan(services.keys, operation, plan),
    leaseSeconds: leaseSeconds(ehr),
    lifetimeSeconds: patients.length > 0 ? careUnit.code.lifetimeSeconds : undefined,
    patientHashes: patients.map((id) => patientHashes(services.keys, ehr.id, id)[0]),
  };
}

/** Calls the EHR and ends the operation. The plan is stored, and this process holds the lease. */
export async function perform<Plan, Outcome>(
  run: Run,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
): Promise<OperationResponse> {
  let outcome: Outcome;
  try {
    outcome = await kind.perform(run, plan);
  } catch (error) {
    const isOver = isFinal(error) || (isSettled(error) && run.isFirst);
    if (isOver && !kind.isRepeatable) return rejectOperation(run, kind, plan, error);
    return leaveOpen(run, error);
  }
  return finish(run, kind, plan, outcome);
}

/** The plan has nothing for the EHR: one transaction decides and ends the operation. */
async function endAtOnce<Plan, Outcome>(
  context: ExecuteContext,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  decide: Decide | undefined,
): Promise<OperationResponse> {
  const { services, ehr, careUnit, operation, claim } = context;
  await claim?.();
  const expiresAt = null;
  const run = startRun(services, { ehr, careUnit }, operation, {
    expiresAt,
    isFirst: true,
    hasCaller: true,
    leasedAt: sinceBoot(),
    patients: kind.patientsOf(plan),
  });
  const outcome = await inTransaction(run, async (tx) => {
    const problem = await decide?.(tx, operation.id);
    if (problem) return endDecided(tx, context, kind.patientsOf(plan), problem);
    const outcome = await kind.perform(run, plan);
    const response = await kind.record(tx, run, plan, outcome);
    const records = recordsOf(run, kind, { plan, outcome, response });
    if (operation.keyHash === undefined) await writeRecords(tx, records);
    else await storeResponse(tx, operation, sealResponse(run, response), records);
    return response;
  }).catch((error) => throwUnstored(services, operation, error));
  if (outcome instanceof Error) throwDecided(outcome);
  noteRecorded('success');
  return outcome;
}
