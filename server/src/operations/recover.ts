import type { Problem } from '../problems/problem.ts';
import { finish, inTransaction, OperationEnded } from './end.ts';
import { isFinal, PartiallyApplied } from './errors.ts';
import { findOutcome } from './find-outcome.ts';
import type { AnyKind } from './kind.ts';
import { draftsOf, noteRecorded } from './record-end.ts';
import { reopen } from './reopen.ts';
import { mayPerformAgain } from './resume.ts';
import type { OperationServices } from './services.ts';
import { monitor, removeOperation, stopMonitoring, writeRecords } from './store-end.ts';
import { markSent, resetForRetry } from './store-plan.ts';
import type { Stored } from './stored-operation.ts';
import type { Run } from './work.ts';

/** `later`: no effect found yet, but the EHR may still finish the operation. */
export type Recovery = 'ended' | 'later';

interface Case {
  readonly run: Run;
  readonly kind: AnyKind;
  readonly stored: Stored;
}

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
  const found: Case = { ...(await reopen(services, stored, { leasedAt, hasCaller: false })), stored };
  if (stored.state === 'done') return findLateEffects(found);
  if (stored.state === 'compensating') return compensateAndEnd(found);
  if (found.kind.isRepeatable) return performAgain(found);
  return recoverPending(found);
}

async function recoverPending(it: Case): Promise<Recovery> {
  const { run, kind, stored } = it;
  const makesCode = kind.codesFor(stored.plan).length > 0;
  const mayPerform = mayPerformAgain(run, kind, stored);
  const isAwaited = stored.keyHash !== undefined && !stored.reportedUnknown;
  if (mayPerform && !makesCode && isAwaited) return performAgain(it);
  const found = await findOutcome(run, kind, stored);
  if (found === 'too early') return 'later';
  if (found === 'not done') {
    await endAsNotDone(it);
    return 'ended';
  }
  if (makesCode) return compensateAndEnd(it);
  if (found === 'in part') return mayPerform ? performAgain(it) : compensateAndEnd(it);
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
    // No response was sent, so a retry starts over. Without compensation, the EHR may still be processing an earlier call.
    if (error instanceof PartiallyApplied)
      run.services.operationMetrics.partiallyApplied({ operationId: stored.id, emr: stored.emr });
    await (run.wasCompensated ? end(it, stored.attempt + 1, error) : endAsNotDone(it, error));
    throw new OperationEnded(error);
  }
  await finish(run, kind, stored.plan, outcome);
  return 'ended';
}

async function compensateAndEnd(it: Case): Promise<Recovery> {
  await compensate(it);
  return 'ended';
}

/**
 * A retry starts over with new ids, since the EHR has used these.
 *
 * @throws OperationEnded with `partially_applied` unless everything was reverted
 */
async function compensate(it: Case): Promise<void> {
  const { run, kind, stored } = it;
  let partial: PartiallyApplied | undefined;
  try {
    await run.compensating();
    await kind.compensate(run, stored.plan);
  } catch (error) {
    if (!(error instanceof PartiallyApplied)) throw error;
    partial = error;
    run.services.operationMetrics.partiallyApplied({ operationId: stored.id, emr: stored.emr });
  }
  await end(it, stored.attempt + 1, partial);
  if (partial) throw new OperationEnded(partial);
}

async function end({ run, kind, stored }: Case, attempt: number, partial?: Problem): Promise<void> {
  await inTransaction(run, async (tx) => {
    await kind.releaseReservations(tx, run, stored.plan, partial);
    if (stored.keyHash === undefined) await removeOperation(tx, stored);
    else if (stored.hasResponse) await stopMonitoring(tx, stored);
    else await resetForRetry(tx, stored, attempt);
    await writeRecords(tx, { drafts: draftsOf(run, partial?.reason ?? 'undone') });
  });
  noteRecorded(partial?.reason ?? 'undone');
}

async function endAsNotDone({ run, kind, stored }: Case, problem?: Problem): Promise<void> {
  await inTransaction(run, async (tx) => {
    await kind.releaseReservations(tx, run, stored.plan, problem);
    await monitor(tx, stored, run.ehr.patience.settlingSeconds);
    await writeRecords(tx, { drafts: draftsOf(run, problem?.reason ?? 'not_done') });
  });
  noteRecorded(problem?.reason ?? 'not_done');
}

/** Looks for effects after the end. A late effect is adopted if no response contradicts it, otherwise compensated. */
async function findLateEffects(it: Case): Promise<Recovery> {
  const { run, kind, stored } = it;
  const found = await kind.lookUp(run, stored.plan);
  // The look-up itself removes what the EHR made twice.
  if (stored.hadEffect) return 'later';
  if (found === 'nothing' || found === 'not known') return 'later';
  const { operationMetrics } = run.services;
  const about = { operationId: stored.id, emr: stored.emr };
  const mayBeAdopted = !stored.hasResponse && kind.codesFor(stored.plan).length === 0;
  const isWanted = mayBeAdopted && (await (kind.isWanted?.(run, stored.plan) ?? true));
  if (typeof found === 'object' && isWanted) {
    await finish(run, kind, stored.plan, found.outcome);
    operationMetrics.lateEffect({ ...about, became: 'adopted' });
  } else {
    await compensate(it);
    operationMetrics.lateEffect({ ...about, became: 'undone' });
  }
  return 'ended';
}
