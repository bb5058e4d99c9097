import { inTransaction } from '../db/retry.ts';
import { PartiallyApplied } from '../problems/operation-errors.ts';
import { Problem } from '../problems/problem.ts';
import { findOutcome, giveUpIfOverdue } from './find-outcome.ts';
import type { OperationResponse } from './operation-response.ts';
import { asOutcomeUnknown, finish, leaveOpen, OperationEnded, perform, rejectOperation } from './perform.ts';
import { mayPerformAgain, type Reopened, reopen } from './reopen.ts';
import type { OperationServices } from './services.ts';
import { clearPlan, markNotDone, markSent, releaseLease } from './store-end.ts';
import type { Leased, Stored } from './stored-operation.ts';

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
  if (stored.kind === undefined || stored.plan === undefined) return { restart: stored };
  let work: Reopened;
  try {
    work = reopen(services, stored, { leasedAt, hasCaller: true });
  } catch (error) {
    // If the database is down, the lease expires on its own.
    await releaseLease(services.db, stored).catch(() => undefined);
    throw new OperationEnded(asOutcomeUnknown(error));
  }
  try {
    const { state, isExpired } = stored;
    if (state === 'compensating' || (isExpired && work.reserves)) return await compensateAndStartOver(work);
    if (state === 'pending' && mayPerformAgain(work)) {
      await markSent(services.db, stored);
      return await perform(work);
    }
    const found = await findOutcome(work);
    if (found === 'in part') return await compensateAndStartOver(work);
    if (found === 'too early') throw new Problem('outcome_unknown');
    if (found === 'not done') return await startOver(work);
    return await finish(work, found.outcome);
  } catch (error) {
    if (error instanceof OperationEnded) throw error;
    return error instanceof PartiallyApplied ? rejectOperation(work, error) : leaveOpen(work, error);
  }
}

/** Expired holds may be taken by others, and compensated ids must not be used again. */
async function compensateAndStartOver(work: Reopened): Promise<Restart> {
  const { services, ehr, kind, plan, operation } = work;
  const needsReconciliation = operation.state !== 'compensating' && !kind.findsOperations(ehr);
  if (needsReconciliation && (await kind.lookUp(work, plan)) === 'not known') {
    await giveUpIfOverdue(work);
    throw new Problem('outcome_unknown');
  }
  await work.compensating();
  await kind.compensate(work, plan);
  const attempt = operation.attempt + 1;
  await inTransaction(services.db, async (tx) => {
    await kind.release?.(tx, work, plan, undefined);
    await clearPlan(tx, operation, attempt);
  });
  return { restart: { ...operation, attempt } };
}

/** Keeps the same ids, so that the EHR recognises them even if it makes the write late. */
async function startOver(work: Reopened): Promise<Restart> {
  const { services, kind, plan, operation } = work;
  await inTransaction(services.db, async (tx) => {
    await kind.release?.(tx, work, plan, undefined);
    await markNotDone(tx, operation);
  });
  return { restart: { ...operation, isMonitored: true } };
}
