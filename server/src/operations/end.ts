import type { Tx } from '../db/kysely.ts';
import { retrySerialization } from '../db/retry.ts';
import { keptProblem, Problem } from '../problems/problem.ts';
import type { Answer } from './answer.ts';
import { sealKept } from './claim.ts';
import { LeaseLost, PartiallyApplied } from './errors.ts';
import type { OperationKind } from './kind.ts';
import { giveBack } from './lease.ts';
import { monitor, monitorRepeats, removeOperation, removeRelaxed, storeAnswer } from './store-end.ts';
import { forgetPlan } from './store-plan.ts';
import type { Run } from './work.ts';

/**
 * Stores what follows from what the EHR has done, and the answer with it.
 *
 * @throws Problem that `record` throws, when what was done has been taken back; `outcome_unknown` when it could not be
 *   stored: somebody else finds out
 */
export async function finish<Plan, Outcome>(
  run: Run,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  outcome: Outcome,
): Promise<Answer> {
  const { services, operation } = run;
  try {
    if (!kind.remembers(plan)) {
      const answer = kind.answer(run, plan, outcome);
      const sealed = sealAnswer(run, answer);
      if (run.mayBeRepeated) {
        await monitorRepeats(services.db, operation, run.ehr.patience.settlingSeconds, sealed);
        return answer;
      }
      // With nothing to remember it need not wait for the disk: what comes back after a crash is looked up, and ends anew.
      await (sealed ? storeAnswer(services.db, operation, sealed) : removeRelaxed(services.db, operation));
      return answer;
    }
    return await inTransaction(run, async (tx) => {
      const answer = await kind.record(tx, run, plan, outcome);
      const sealed = sealAnswer(run, answer);
      await (run.mayBeRepeated
        ? monitorRepeats(tx, operation, run.ehr.patience.settlingSeconds, sealed)
        : storeAnswer(tx, operation, sealed));
      return answer;
    });
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return takeBackRefused(run, kind, plan, error);
    return leaveOpen(run, new Problem('outcome_unknown', { cause: error }));
  }
}

/** The gateway refuses what the EHR has done. */
async function takeBackRefused<Plan, Outcome>(
  run: Run,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  refusal: Problem,
): Promise<never> {
  try {
    await run.compensating();
    await kind.undo(run, plan);
  } catch (error) {
    if (error instanceof PartiallyApplied) return refuse(run, kind, plan, error);
    return leaveOpen(run, new Problem('outcome_unknown', { cause: error }));
  }
  return refuse(run, kind, plan, refusal);
}

/**
 * Ends an operation of which nothing is left in the EHR, or nothing that can be taken back. Throws the problem, or
 * `outcome_unknown` when even that could not be stored.
 */
export async function refuse<Plan, Outcome>(
  run: Run,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  problem: Problem,
): Promise<never> {
  try {
    await inTransaction(run, async (tx) => {
      await kind.letGo(tx, run, plan, problem);
      await settleRefused(tx, run, problem);
    });
  } catch (error) {
    return leaveOpen(run, new Problem('outcome_unknown', { cause: error }));
  }
  if (problem instanceof PartiallyApplied) run.services.operationMetrics.stayed(aboutOf(run));
  throw new Ended(problem);
}

function aboutOf({ operation: { id, emr } }: Run) {
  return { operationId: id, emr };
}

/** A problem of an operation whose row says all that is to be said: nobody settles it again. */
export class Ended extends Error {
  readonly problem: Error;

  constructor(problem: Error) {
    super(problem.message, { cause: problem });
    this.problem = problem;
  }
}

/** Lets a retry or background work find out what became of it, and throws: background work, why it could not. */
export async function leaveOpen(run: Run, problem: Problem): Promise<never> {
  if (problem.cause instanceof LeaseLost) run.services.operationMetrics.leaseLost(run.ehr.id);
  // It comes back to it after a pause, and gives up at last.
  if (!run.hasCaller) throw problem.cause ?? problem;
  // Without the database the lease runs out by itself.
  await giveBack(run.services.db, run.operation).catch(() => undefined);
  throw new Ended(problem);
}

/**
 * Whether a refusal is kept under the key: what depends on the moment is not, and after a failure a retry is to find out
 * more.
 */
export function isKept({ status, reason }: Problem): boolean {
  return status < 500 && status !== 429 && reason !== 'idempotency_in_progress';
}

async function settleRefused(tx: Tx, run: Run, problem: Problem): Promise<void> {
  const { operation, services, ehr, isFirst, wasCompensated } = run;
  const { keyHash, clientId, attempt } = operation;
  // An earlier call may still be under way in the EHR.
  const isLateStill = !isFirst && !wasCompensated;
  if (keyHash === undefined || problem.status === 429) {
    return isLateStill ? monitor(tx, operation, ehr.patience.settlingSeconds) : removeOperation(tx, operation);
  }
  if (!isKept(problem)) {
    return isLateStill
      ? monitor(tx, operation, ehr.patience.settlingSeconds)
      : forgetPlan(tx, operation, wasCompensated ? attempt + 1 : attempt);
  }
  const sealed = sealKept(services.keys, clientId, keyHash, { problem: keptProblem(problem, operation.requestId) });
  return isLateStill
    ? monitor(tx, operation, ehr.patience.settlingSeconds, sealed)
    : storeAnswer(tx, operation, sealed);
}

/** `undefined`: no key, nothing to keep. */
export function sealAnswer({ services, operation }: Run, answer: Answer): Buffer | undefined {
  const { keyHash, clientId } = operation;
  return keyHash && sealKept(services.keys, clientId, keyHash, { answer });
}

export function inTransaction<Result>({ services }: Run, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return retrySerialization(() => services.db.transaction().execute(work));
}
