import { patientHashes } from '../confirmations/limits.ts';
import { mayHaveBeenSent } from '../db/errors.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { retryTransaction } from '../db/retry.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { writeEvents } from '../events/write-events.ts';
import { Problem } from '../problems/problem.ts';
import { inProgress } from './claim.ts';
import { finish, inTransaction, leaveOpen, OperationEnded, rejectOperation, sealResponse } from './end.ts';
import { isFinal, isSettled, LeaseLost } from './errors.ts';
import type { OperationKind } from './kind.ts';
import type { OperationResponse } from './operation-response.ts';
import type { OperationServices } from './services.ts';
import { removeOperation, storeResponse } from './store-end.ts';
import { clearPlan, type Planned, storePlan } from './store-plan.ts';
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
  return kind.callsEhr(plan)
    ? perform(await begin(context, kind, plan, decide), kind, plan)
    : endAtOnce(context, kind, plan, decide);
}

async function begin<Plan, Outcome>(
  { services, ehr, careUnit, operation, claim }: ExecuteContext,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  decide: Decide | undefined,
): Promise<Run> {
  const planned = plannedFor({ services, ehr, careUnit, operation }, kind, plan);
  let leasedAt = performance.now();
  const store = async () => {
    if (!decide) return claim ? claim(planned) : storePlan(services.db, operation, planned);
    await claim?.();
    return retryTransaction(() =>
      services.db.transaction().execute(async (tx) => {
        const problem = await decide(tx, operation.id);
        leasedAt = performance.now();
        return problem ?? storePlan(tx, operation, planned);
      }),
    );
  };
  const stored = await store().catch(async (error) => {
    if (mayHaveBeenSent(error)) await withdraw(services.db, operation, error);
    return throwInProgress(error);
  });
  if (stored instanceof Problem) throw stored;
  return startRun(services, { ehr, careUnit }, operation, {
    expiresAt: stored,
    isFirst: !operation.isMonitored,
    hasCaller: true,
    leasedAt,
    patients: kind.patientsOf(plan),
  });
}

/** The plan may be stored although the commit failed to report so. Background recovery would then execute it. */
async function withdraw(db: Db, operation: Leased, cause: unknown): Promise<void> {
  try {
    await (operation.keyHash === undefined
      ? removeOperation(db, operation)
      : clearPlan(db, operation, operation.attempt));
  } catch (error) {
    // The plan was not stored.
    if (error instanceof LeaseLost) return;
    throw new OperationEnded(new Problem('outcome_unknown', { cause }));
  }
}

/** What is stored before the EHR is called. */
export function plannedFor<Plan, Outcome>(
  { services, ehr, careUnit, operation }: ExecuteContext,
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

/** Another request with the same key holds the lease, and this one has done nothing. */
function throwInProgress(error: unknown): never {
  throw error instanceof LeaseLost ? inProgress() : error;
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
    return leaveOpen(run, asOutcomeUnknown(error));
  }
  return finish(run, kind, plan, outcome);
}

/** Once the EHR has been called, any other failure leaves the outcome unknown. */
export function asOutcomeUnknown(error: unknown): Problem {
  const isUnknown = error instanceof Problem && error.reason === 'outcome_unknown';
  return isUnknown ? error : new Problem('outcome_unknown', { cause: error });
}

/** The plan has nothing for the EHR: one transaction decides and ends the operation. */
async function endAtOnce<Plan, Outcome>(
  { services, ehr, careUnit, operation, claim }: ExecuteContext,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  decide: Decide | undefined,
): Promise<OperationResponse> {
  await claim?.();
  const expiresAt = null;
  const run = startRun(services, { ehr, careUnit }, operation, {
    expiresAt,
    isFirst: true,
    hasCaller: true,
    leasedAt: performance.now(),
    patients: kind.patientsOf(plan),
  });
  const outcome = await inTransaction(run, async (tx) => {
    const problem = await decide?.(tx, operation.id);
    if (problem) return problem;
    const outcome = await kind.perform(run, plan);
    const response = await kind.record(tx, run, plan, outcome);
    const events = kind.events?.(run, plan, outcome, response) ?? [];
    if (operation.keyHash === undefined) await writeEvents(tx, events);
    else await storeResponse(tx, operation, sealResponse(run, response), events);
    return response;
  }).catch(throwInProgress);
  if (outcome instanceof Problem) throw outcome;
  return outcome;
}
