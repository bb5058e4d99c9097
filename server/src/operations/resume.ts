import { keptProblem, Problem } from '../problems/problem.ts';
import type { Answer } from './answer.ts';
import { sealKept } from './claim.ts';
import { Ended, finish, inTransaction, leaveOpen, refuse } from './end.ts';
import { PartiallyApplied } from './errors.ts';
import { perform, untold } from './execute.ts';
import type { AnyKind, Found } from './kind.ts';
import type { OperationServices } from './services.ts';
import { clearPlan, type Leased, markNotDone, markSent, releaseLease, type Stored, storeAnswer } from './store.ts';
import { type Run, startRun } from './work.ts';

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
    const found = await kind.lookUp(run, plan);
    if (typeof found === 'object') return await finish(run, kind, plan, found.outcome);
    return await withoutOutcome(run, kind, stored, found);
  } catch (error) {
    if (error instanceof Ended) throw error;
    if (error instanceof PartiallyApplied) return refuse(run, kind, plan, error);
    return leaveOpen(run, untold(error));
  }
}

/** What has run out may have been taken, and what is being taken back must not be done again under the same ids. */
async function takeBackAndBeginAnew(run: Run, kind: AnyKind, stored: Stored): Promise<Anew> {
  const isTraced = stored.state !== 'compensating' && !knowsOperations(run);
  if (isTraced && (await kind.lookUp(run, stored.plan)) === 'not known') throw await outcomeUnknown(run, kind, stored);
  await run.compensating();
  await kind.undo(run, stored.plan);
  const attempt = stored.attempt + 1;
  await inTransaction(run, async (tx) => {
    await kind.letGo(tx, run, stored.plan, undefined);
    await clearPlan(tx, stored, attempt);
  });
  return { anew: { ...stored, attempt } };
}

async function withoutOutcome(
  run: Run,
  kind: AnyKind,
  stored: Stored,
  found: Exclude<Found<unknown>, object>,
): Promise<Anew> {
  if (found === 'in part') return takeBackAndBeginAnew(run, kind, stored);
  if (found === 'not known') throw await outcomeUnknown(run, kind, stored);
  if (stored.silence < run.ehr.patience.settlingSeconds) throw new Problem('outcome_unknown');
  await inTransaction(run, async (tx) => {
    await kind.letGo(tx, run, stored.plan, undefined);
    await markNotDone(tx, stored);
  });
  // Under the same ids: should the EHR be late after all, it recognises them.
  return { anew: { ...stored, isMonitored: true } };
}

/** How long what an EHR that cannot be asked does not show is looked for. */
const patienceSeconds = 120;

/**
 * Of an operation in an EHR that cannot be asked, which shows nothing of it or not all: the caller is told so, and it is
 * looked for again. After a while it ends: nothing is done again, and a retry is told so for good.
 */
export async function outcomeUnknown(run: Run, kind: AnyKind, stored: Stored): Promise<Error> {
  if (stored.silence < patienceSeconds) return new Problem('outcome_unknown');
  const problem = new Problem('outcome_unknown', {
    detail: 'The EHR may or may not have made the change, and has not shown it since. It will not be made again.',
    retryable: false,
  });
  const { services, operation } = run;
  const { keyHash, clientId } = operation;
  await inTransaction(run, async (tx) => {
    await kind.letGo(tx, run, stored.plan, undefined);
    const sealed = keyHash && sealKept(services.keys, clientId, keyHash, { problem: keptProblem(problem) });
    await storeAnswer(tx, operation, sealed);
  });
  services.operationMetrics.outcomeLost({ operationId: operation.id, emr: operation.emr });
  return new Ended(problem);
}

/** @throws Error when nobody knows the kind, the EHR or the care unit any more */
export async function reopen(
  services: OperationServices,
  stored: Stored,
  how: { readonly leasedAt: number; readonly hasCaller: boolean },
): Promise<{ readonly run: Run; readonly kind: AnyKind }> {
  const ehr = services.ehrs.get(stored.emr);
  const careUnit = ehr?.careUnits.get(stored.careUnitId);
  const kind = services.kinds.get(stored.kind ?? '');
  if (!ehr || !careUnit || !kind) throw new Error('A stored operation is of a kind, EHR or care unit that is gone');
  return {
    run: startRun(services, { ehr, careUnit }, stored, { expiresAt: stored.expiresAt, isFirst: false, ...how }),
    kind,
  };
}

/** Whether the EHR can be asked what it has done under an operation id, and does nothing twice under one. */
export function knowsOperations({ ehr }: Pick<Run, 'ehr'>): boolean {
  return ehr.offers('findOperation');
}
