import { inTransaction } from '../db/retry.ts';
import { isFinal, PartiallyApplied } from '../problems/operation-errors.ts';
import type { Problem } from '../problems/problem.ts';
import { findOutcome } from './find-outcome.ts';
import { finish, OperationEnded } from './perform.ts';
import { draftsOf, noteRecorded } from './record-end.ts';
import { mayPerformAgain, type Reopened, reopen } from './reopen.ts';
import type { OperationServices } from './services.ts';
import { markSent, monitor, removeOperation, resetForRetry, stopMonitoring, writeRecords } from './store-end.ts';
import type { Stored } from './stored-operation.ts';

/** `later`: no effect found yet, but the EHR may still finish the operation. */
export type Recovery = 'ended' | 'later';

/**
 * Recovers an operation without a caller.
 *
 * - An interrupted operation with a key is finished within its lifetime: a retry gets its response. One that sends a code is
 *   compensated: its caller is gone.
 * - Without a key, or after `outcome_unknown` was reported, nothing new is started, because the caller may have looked, found
 *   nothing and asked again. What the EHR performed is recorded, and what it performed in part is finished.
 *
 * @throws OperationEnded when it ended with a problem; another error when the recovery must be tried again
 */
export async function recover(services: OperationServices, stored: Stored, leasedAt: number): Promise<Recovery> {
  const work = reopen(services, stored, { leasedAt, hasCaller: false });
  if (stored.state === 'done') return findLateEffects(work);
  if (stored.state === 'compensating') return compensateAndEnd(work);
  if (work.kind.isRepeatable) return performAgain(work);
  return recoverPending(work);
}

async function recoverPending(work: Reopened): Promise<Recovery> {
  const { keyHash, reportedUnknown } = work.operation;
  const mayPerform = mayPerformAgain(work);
  const isAwaited = keyHash !== undefined && !reportedUnknown;
  if (mayPerform && !work.reserves && isAwaited) return performAgain(work);
  const found = await findOutcome(work);
  if (found === 'too early') return 'later';
  if (found === 'not done') return endAsNotDone(work);
  if (work.reserves) return compensateAndEnd(work);
  if (found === 'in part') return mayPerform ? performAgain(work) : compensateAndEnd(work);
  await finish(work, found.outcome);
  return 'ended';
}

async function performAgain(work: Reopened): Promise<Recovery> {
  const { services, kind, plan, operation } = work;
  await markSent(services.db, operation);
  let outcome: unknown;
  try {
    outcome = await kind.perform(work, plan);
  } catch (error) {
    if (!isFinal(error) || kind.isRepeatable) throw error;
    // No response was sent, so a retry starts over. Without compensation, the EHR may still be processing an earlier call.
    if (error instanceof PartiallyApplied) services.operationMetrics.partiallyApplied(aboutOf(work));
    await (work.wasCompensated ? endCompensated(work, error) : endAsNotDone(work, error));
    throw new OperationEnded(error);
  }
  await finish(work, outcome);
  return 'ended';
}

/** @throws OperationEnded with `partially_applied` unless everything was reverted */
async function compensateAndEnd(work: Reopened): Promise<Recovery> {
  let partial: PartiallyApplied | undefined;
  try {
    await work.compensating();
    await work.kind.compensate(work, work.plan);
  } catch (error) {
    if (!(error instanceof PartiallyApplied)) throw error;
    partial = error;
    work.services.operationMetrics.partiallyApplied(aboutOf(work));
  }
  await endCompensated(work, partial);
  if (partial) throw new OperationEnded(partial);
  return 'ended';
}

/** A retry starts over with new ids, since the EHR has used these. */
async function endCompensated(work: Reopened, problem?: Problem): Promise<void> {
  const { services, kind, plan, operation } = work;
  const outcome = problem?.reason ?? 'undone';
  await inTransaction(services.db, async (tx) => {
    await kind.release?.(tx, work, plan, problem);
    if (operation.keyHash === undefined) await removeOperation(tx, operation);
    else if (operation.hasResponse) await stopMonitoring(tx, operation);
    else await resetForRetry(tx, operation, operation.attempt + 1);
    await writeRecords(tx, { drafts: draftsOf(work, outcome) });
  });
  noteRecorded(outcome);
}

async function endAsNotDone(work: Reopened, problem?: Problem): Promise<Recovery> {
  const { services, ehr, kind, plan, operation } = work;
  const outcome = problem?.reason ?? 'not_done';
  await inTransaction(services.db, async (tx) => {
    await kind.release?.(tx, work, plan, problem);
    await monitor(tx, operation, { ...ehr.patience, sealedResponse: undefined });
    await writeRecords(tx, { drafts: draftsOf(work, outcome) });
  });
  noteRecorded(outcome);
  return 'ended';
}

/** Looks for effects after the end. A late effect is adopted if no response contradicts it, otherwise compensated. */
async function findLateEffects(work: Reopened): Promise<Recovery> {
  const { services, kind, plan, operation } = work;
  const found = await kind.lookUp(work, plan);
  // The look-up itself removes what the EHR made twice.
  if (operation.hadEffect || found === 'nothing' || found === 'not known') return 'later';
  const mayBeAdopted = !operation.hasResponse && !work.reserves;
  const isWanted = mayBeAdopted && (await (kind.isWanted?.(work, plan) ?? true));
  const isAdopted = typeof found === 'object' && isWanted;
  await (isAdopted ? finish(work, found.outcome) : compensateAndEnd(work));
  services.operationMetrics.lateEffect({ ...aboutOf(work), became: isAdopted ? 'adopted' : 'undone' });
  return 'ended';
}

function aboutOf({ operation: { id, emr } }: Reopened) {
  return { operationId: id, emr };
}
