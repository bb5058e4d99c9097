import { Problem } from '../problems/problem.ts';
import type { Answer } from './answer.ts';
import { Ended, finish, inTransaction, leaveOpen, refuse } from './end.ts';
import { PartiallyApplied } from './errors.ts';
import { perform, untold } from './execute.ts';
import { findOutcome, giveUpIfOverdue, knowsOperations } from './find-outcome.ts';
import type { AnyKind } from './kind.ts';
import { releaseLease } from './lease.ts';
import { reopen } from './reopen.ts';
import type { OperationServices } from './services.ts';
import { markNotDone } from './store-end.ts';
import { clearPlan, markSent } from './store-plan.ts';
import type { Leased, Stored } from './stored-operation.ts';
import type { Run } from './work.ts';

/** Nothing is left of what was begun: the operation begins anew under this lease. */
interface Anew {
  readonly anew: Leased;
}

/**
 * Finishes what an earlier request with the same key has begun. Within its time to live the EHR is told the same
 * operation id again, and does nothing twice; after that, and where an EHR does not know operations, it is only looked at.
 *
 * @throws Ended with `outcome_unknown` when it cannot be found out now
 */
export async function resume(services: OperationServices, stored: Stored, leasedAt: number): Promise<Answer | Anew> {
  const { plan } = stored;
  if (stored.kind === undefined || plan === undefined) return { anew: stored };
  const { run, kind } = await reopen(services, stored, { leasedAt, hasCaller: true }).catch(async (error) => {
    await releaseLease(services.db, stored);
    throw new Ended(untold(error));
  });
  try {
    if (
      stored.state === 'compensating' ||
      (stored.hasRunOut && kind.codesFor(plan).length > 0 && !kind.takesNothingBack)
    ) {
      return await takeBackAndBeginAnew(run, kind, stored);
    }
    const isPerformed =
      stored.state === 'pending' && knowsOperations(run) && stored.age <= run.ehr.patience.giveUpSeconds;
    if (isPerformed) {
      await markSent(services.db, stored);
      return await perform(run, kind, plan);
    }
    const found = await findOutcome(run, kind, stored);
    if (found === 'in part') return await takeBackAndBeginAnew(run, kind, stored);
    if (found === 'too early') throw new Problem('outcome_unknown');
    if (found === 'not done') return await beginAnew(run, kind, stored);
    return await finish(run, kind, plan, found.outcome);
  } catch (error) {
    if (error instanceof Ended) throw error;
    if (error instanceof PartiallyApplied) return refuse(run, kind, plan, error);
    return leaveOpen(run, untold(error));
  }
}

/** What has run out may have been taken, and what is being taken back must not be done again under the same ids. */
async function takeBackAndBeginAnew(run: Run, kind: AnyKind, stored: Stored): Promise<Anew> {
  const isTraced = stored.state !== 'compensating' && !knowsOperations(run);
  if (isTraced && (await kind.lookUp(run, stored.plan)) === 'not known') {
    await giveUpIfOverdue(run, kind, stored);
    throw new Problem('outcome_unknown');
  }
  await run.compensating();
  await kind.undo(run, stored.plan);
  const attempt = stored.attempt + 1;
  await inTransaction(run, async (tx) => {
    await kind.letGo(tx, run, stored.plan, undefined);
    await clearPlan(tx, stored, attempt);
  });
  return { anew: { ...stored, attempt } };
}

/** Under the same ids: should the EHR be late after all, it recognises them. */
async function beginAnew(run: Run, kind: AnyKind, stored: Stored): Promise<Anew> {
  await inTransaction(run, async (tx) => {
    await kind.letGo(tx, run, stored.plan, undefined);
    await markNotDone(tx, stored);
  });
  return { anew: { ...stored, isMonitored: true } };
}
