import { patientHashes } from '../confirmations/limits.ts';
import { mayHaveBeenSent } from '../db/errors.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { retrySerialization } from '../db/retry.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { Problem } from '../problems/problem.ts';
import type { Answer } from './answer.ts';
import { inProgress } from './claim.ts';
import { Ended, finish, inTransaction, leaveOpen, refuse, sealAnswer } from './end.ts';
import { isFinal, isSettled, LeaseLost } from './errors.ts';
import type { OperationKind } from './kind.ts';
import type { OperationServices } from './services.ts';
import { removeOperation, storeAnswer } from './store-end.ts';
import { clearPlan, type Planned, storePlan } from './store-plan.ts';
import { type Leased, sealPlan } from './stored-operation.ts';
import { leaseSeconds, type Run, startRun } from './work.ts';

/**
 * Comes in the transaction that begins an operation, with its id. A problem that it answers is told, and what it has
 * changed stays; one that it throws leaves nothing behind.
 */
export type Decide = (tx: Tx, operationId: string) => Promise<Problem | undefined>;

export interface ExecuteContext {
  readonly services: OperationServices;
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
  readonly operation: Leased;
}

/**
 * Does what a plan says. Before the EHR is asked, the plan is stored; when the EHR has done it, what the gateway has to
 * remember and the answer are stored together. No connection to the database is held in between. Whatever stops half-way
 * is finished by a retry or by background work.
 */
export async function execute<Plan, Outcome>(
  context: ExecuteContext,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  decide?: Decide,
): Promise<Answer> {
  return kind.asksEhr(plan)
    ? perform(await begin(context, kind, plan, decide), kind, plan)
    : endAtOnce(context, kind, plan, decide);
}

async function begin<Plan, Outcome>(
  { services, ehr, careUnit, operation }: ExecuteContext,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  decide: Decide | undefined,
): Promise<Run> {
  const planned = plannedFor({ services, ehr, careUnit, operation }, kind, plan);
  let leasedAt = performance.now();
  const store = async () => {
    if (!decide) return storePlan(services.db, operation, planned);
    return retrySerialization(() =>
      services.db.transaction().execute(async (tx) => {
        const problem = await decide(tx, operation.id);
        leasedAt = performance.now();
        return problem ?? storePlan(tx, operation, planned);
      }),
    );
  };
  const stored = await store().catch(async (error) => {
    if (mayHaveBeenSent(error)) await withdraw(services.db, operation, error);
    return inTermsOfTheKey(error);
  });
  if (stored instanceof Problem) throw stored;
  return startRun(services, { ehr, careUnit }, operation, {
    expiresAt: stored,
    isFirst: !operation.isMonitored,
    hasCaller: true,
    leasedAt,
  });
}

/** The plan may be stored though the database has not said so: then background work would carry it out. */
async function withdraw(db: Db, operation: Leased, cause: unknown): Promise<void> {
  try {
    await (operation.keyHash === undefined
      ? removeOperation(db, operation)
      : clearPlan(db, operation, operation.attempt));
  } catch (error) {
    // It was not stored.
    if (error instanceof LeaseLost) return;
    throw new Ended(new Problem('outcome_unknown', { cause }));
  }
}

/** What is stored of an operation before the EHR is asked. */
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

/** Another request with the key is at work on it, and nothing was done here. */
function inTermsOfTheKey(error: unknown): never {
  throw error instanceof LeaseLost ? inProgress() : error;
}

/** Asks the EHR and ends the operation. The plan is stored, under a lease of ours. */
export async function perform<Plan, Outcome>(
  run: Run,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
): Promise<Answer> {
  let outcome: Outcome;
  try {
    outcome = await kind.perform(run, plan);
  } catch (error) {
    const isOver = isFinal(error) || (isSettled(error) && run.isFirst);
    if (isOver && !kind.isRepeatable) return refuse(run, kind, plan, error);
    return leaveOpen(run, untold(error));
  }
  return finish(run, kind, plan, outcome);
}

/** Once the EHR has been asked, nobody knows what became of it, whatever failed: the EHR, the database or we. */
export function untold(error: unknown): Problem {
  const isTold = error instanceof Problem && error.reason === 'outcome_unknown';
  return isTold ? error : new Problem('outcome_unknown', { cause: error });
}

/** Nothing to ask the EHR for: one transaction decides and ends it. */
async function endAtOnce<Plan, Outcome>(
  { services, ehr, careUnit, operation }: ExecuteContext,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  decide: Decide | undefined,
): Promise<Answer> {
  const expiresAt = null;
  const run = startRun(services, { ehr, careUnit }, operation, {
    expiresAt,
    isFirst: true,
    hasCaller: true,
    leasedAt: performance.now(),
  });
  const outcome = await inTransaction(run, async (tx) => {
    const problem = await decide?.(tx, operation.id);
    if (problem) return problem;
    const answer = await kind.record(tx, run, plan, await kind.perform(run, plan));
    if (operation.keyHash !== undefined) await storeAnswer(tx, operation, sealAnswer(run, answer));
    return answer;
  }).catch(inTermsOfTheKey);
  if (outcome instanceof Problem) throw outcome;
  return outcome;
}
