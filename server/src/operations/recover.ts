import type { Problem } from '../problems/problem.ts';
import { Ended, finish, inTransaction } from './end.ts';
import { isFinal, PartiallyApplied } from './errors.ts';
import { findOutcome, knowsOperations } from './find-outcome.ts';
import type { AnyKind } from './kind.ts';
import { reopen } from './reopen.ts';
import type { OperationServices } from './services.ts';
import { monitor, removeOperation, stopMonitoring } from './store-end.ts';
import { forgetPlan, markSent } from './store-plan.ts';
import type { Stored } from './stored-operation.ts';
import type { Run } from './work.ts';

/** `later`: nothing shows yet, and it is too early to say that nothing will. */
export type Recovery = 'ended' | 'later';

interface Case {
  readonly run: Run;
  readonly kind: AnyKind;
  readonly stored: Stored;
}

/**
 * Goes on with an operation that nobody asks for. What nobody was told of is finished within its time to live, but for a
 * code that nobody was told of: that is taken back. Where the caller was told that the outcome is unknown, nothing new is
 * begun: what the EHR has done goes on record, and what it has done in part is finished.
 *
 * @throws Error that says why it has to be tried again
 */
export async function recover(services: OperationServices, stored: Stored, leasedAt: number): Promise<Recovery> {
  const found: Case = { ...(await reopen(services, stored, { leasedAt, hasCaller: false })), stored };
  try {
    if (stored.state === 'done') return await lookForLateEffects(found);
    if (stored.state === 'compensating') return await takeBack(found);
    if (found.kind.isRepeatable) return await performAgain(found);
    return await goOn(found);
  } catch (error) {
    // It has ended with a problem that nobody waits for.
    if (error instanceof Ended) return 'ended';
    throw error;
  }
}

async function goOn(it: Case): Promise<Recovery> {
  const { run, kind, stored } = it;
  const makesCode = kind.codesFor(stored.plan).length > 0;
  const mayPerform = knowsOperations(run) && stored.age <= run.ehr.patience.giveUpSeconds;
  if (mayPerform && !makesCode && !stored.reportedUnknown) return performAgain(it);
  const found = await findOutcome(run, kind, stored);
  if (found === 'too early') return 'later';
  if (found === 'not done') {
    await endAsNotDone(it);
    return 'ended';
  }
  if (makesCode) return takeBack(it);
  if (found === 'in part') return mayPerform ? performAgain(it) : takeBack(it);
  await finish(run, kind, stored.plan, found.outcome);
  return 'ended';
}

async function performAgain(it: Case): Promise<Recovery> {
  const { run, kind, stored } = it;
  await markSent(run.services.db, stored);
  let outcome: unknown;
  try {
    outcome = await kind.perform(run, stored.plan);
  } catch (error) {
    if (!isFinal(error) || kind.isRepeatable) throw error;
    // Nobody was told: a retry begins anew. Unless it was undone, an earlier call may still be under way in the EHR.
    if (error instanceof PartiallyApplied)
      run.services.operationMetrics.stayed({ operationId: stored.id, emr: stored.emr });
    await (run.wasCompensated ? end(it, stored.attempt + 1, error) : endAsNotDone(it, error));
    return 'ended';
  }
  await finish(run, kind, stored.plan, outcome);
  return 'ended';
}

async function takeBack(it: Case): Promise<Recovery> {
  await undo(it);
  return 'ended';
}

/** Answers whether nothing stays of it. A retry begins anew, under other ids: the EHR has done these. */
async function undo(it: Case): Promise<boolean> {
  const { run, kind, stored } = it;
  let stays: PartiallyApplied | undefined;
  try {
    await run.compensating();
    await kind.undo(run, stored.plan);
  } catch (error) {
    if (!(error instanceof PartiallyApplied)) throw error;
    stays = error;
    run.services.operationMetrics.stayed({ operationId: stored.id, emr: stored.emr });
  }
  await end(it, stored.attempt + 1, stays);
  return stays === undefined;
}

async function end({ run, kind, stored }: Case, attempt: number, stays?: Problem): Promise<void> {
  await inTransaction(run, async (tx) => {
    await kind.letGo(tx, run, stored.plan, stays);
    if (stored.keyHash === undefined) await removeOperation(tx, stored);
    else if (stored.isAnswered) await stopMonitoring(tx, stored);
    else await forgetPlan(tx, stored, attempt);
  });
}

async function endAsNotDone({ run, kind, stored }: Case, refusal?: Problem): Promise<void> {
  await inTransaction(run, async (tx) => {
    await kind.letGo(tx, run, stored.plan, refusal);
    await monitor(tx, stored, run.ehr.patience.settlingSeconds);
  });
}

/**
 * It has ended. If it ended as not done, what turns up late is adopted where nobody was told otherwise, else taken back.
 */
async function lookForLateEffects(it: Case): Promise<Recovery> {
  const { run, kind, stored } = it;
  const found = await kind.lookUp(run, stored.plan);
  // The look-up itself removes what the EHR has done twice.
  if (stored.hadEffect) return 'later';
  if (found === 'nothing' || found === 'not known') return 'later';
  const { operationMetrics } = run.services;
  const about = { operationId: stored.id, emr: stored.emr };
  const mayBeAdopted = !stored.isAnswered && kind.codesFor(stored.plan).length === 0;
  const isWanted = mayBeAdopted && (await (kind.isWanted?.(run, stored.plan) ?? true));
  if (typeof found === 'object' && isWanted) {
    await finish(run, kind, stored.plan, found.outcome);
    operationMetrics.turnedUpLate({ ...about, became: 'adopted' });
  } else if (await undo(it)) {
    operationMetrics.turnedUpLate({ ...about, became: 'undone' });
  }
  return 'ended';
}
