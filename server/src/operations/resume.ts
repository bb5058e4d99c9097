import { Problem } from '../problems/problem.ts';
import { finish, inTransaction, leaveOpen, OperationEnded, rejectOperation } from './end.ts';
import { asOutcomeUnknown, PartiallyApplied } from './errors.ts';
import { perform } from './execute.ts';
import { findOutcome, giveUpIfOverdue } from './find-outcome.ts';
import type { AnyKind } from './kind.ts';
import { releaseLease } from './lease.ts';
import type { OperationResponse } from './operation-response.ts';
import { reopen } from './reopen.ts';
import type { OperationServices } from './services.ts';
import { markNotDone } from './store-end.ts';
import { clearPlan, markSent } from './store-plan.ts';
import type { Leased, Stored } from './stored-operation.ts';
import type { Run } from './work.ts';

/** Nothing is left of the earlier attempt. The operation starts over under this lease. */
interface Restart {
  readonly restart: Leased;
}

/**
 * Finishes the operation of an earlier request with the same key. Within the operation's lifetime, an EHR that
 * finds operations by id gets the same operation id again and performs it at most once. Otherwise the outcome is only looked up.
 *
 * @throws OperationEnded with `outcome_unknown` when the outcome cannot be determined now
 */
export async function resume(
  services: OperationServices,
  stored: Stored,
  leasedAt: number,
): Promise<OperationResponse | Restart> {
  const { plan } = stored;
  if (stored.kind === undefined || plan === undefined) return { restart: stored };
  const { run, kind } = await reopen(services, stored, { leasedAt, hasCaller: true }).catch(async (error) => {
    // If the database is down, the lease expires on its own.
    await releaseLease(services.db, stored).catch(() => undefined);
    throw new OperationEnded(asOutcomeUnknown(error));
  });
  try {
    if (stored.state === 'compensating' || (stored.isExpired && kind.codesFor(plan).length > 0)) {
      return await compensateAndStartOver(run, kind, stored);
    }
    if (stored.state === 'pending' && mayPerformAgain(run, kind, stored)) {
      await markSent(services.db, stored);
      return await perform(run, kind, plan);
    }
    const found = await findOutcome(run, kind, stored);
    if (found === 'in part') return await compensateAndStartOver(run, kind, stored);
    if (found === 'too early') throw new Problem('outcome_unknown');
    if (found === 'not done') return await startOver(run, kind, stored);
    return await finish(run, kind, plan, found.outcome);
  } catch (error) {
    if (error instanceof OperationEnded) throw error;
    if (error instanceof PartiallyApplied) return rejectOperation(run, kind, plan, error);
    return leaveOpen(run, error);
  }
}

/** Whether the EHR performs the operation at most once under its id, can still do so, and has not had too long. */
export function mayPerformAgain({ ehr }: Run, kind: AnyKind, { plan, age }: Stored): boolean {
  const canPerform = kind.canPerform?.(ehr, plan) ?? true;
  return canPerform && kind.findsOperations(ehr) && age <= ehr.patience.giveUpSeconds;
}

/** Expired holds may be taken by others, and compensated ids must not be used again. */
async function compensateAndStartOver(run: Run, kind: AnyKind, stored: Stored): Promise<Restart> {
  const needsReconciliation = stored.state !== 'compensating' && !kind.findsOperations(run.ehr);
  if (needsReconciliation && (await kind.lookUp(run, stored.plan)) === 'not known') {
    await giveUpIfOverdue(run, kind, stored);
    throw new Problem('outcome_unknown');
  }
  await run.compensating();
  await kind.compensate(run, stored.plan);
  const attempt = stored.attempt + 1;
  await inTransaction(run, async (tx) => {
    await kind.releaseReservations(tx, run, stored.plan, undefined);
    await clearPlan(tx, stored, attempt);
  });
  return { restart: { ...stored, attempt } };
}

/** Keeps the same ids, so that the EHR recognises them even if it makes the write late. */
async function startOver(run: Run, kind: AnyKind, stored: Stored): Promise<Restart> {
  await inTransaction(run, async (tx) => {
    await kind.releaseReservations(tx, run, stored.plan, undefined);
    await markNotDone(tx, stored);
  });
  return { restart: { ...stored, isMonitored: true } };
}
