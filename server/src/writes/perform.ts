import { Problem } from '../problems/problem.ts';
import { isFinal, isSettled, PartiallyApplied, WriteEnded } from '../problems/write-errors.ts';
import { endMade, endUnmade, leaveOpen } from './end.ts';
import type { LeasedWork } from './work.ts';
import type { WriteResponse } from './write-kind.ts';

/**
 * Calls the EHR and ends the write. The plan is stored, and this process holds the lease.
 *
 * @throws WriteEnded with the problem; in background recovery another error, if the outcome is unknown
 */
export async function perform(work: LeasedWork): Promise<WriteResponse> {
  const { kind, plan, isFirst } = work;
  let outcome: unknown;
  try {
    outcome = await kind.perform(work, plan);
  } catch (error) {
    const isOver = isFinal(error) || (isSettled(error) && isFirst);
    return isOver && !kind.isRepeatable ? refuse(work, error) : leaveOpen(work, error);
  }
  return finish(work, outcome);
}

/** Ends a write that the EHR has performed. What the kind's `record` refuses is undone. @throws as `perform` */
export async function finish(work: LeasedWork, outcome: unknown): Promise<WriteResponse> {
  try {
    return await endMade(work, outcome);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) return leaveOpen(work, error);
    await undo(work);
    return refuse(work, error);
  }
}

/** Reverts what the EHR has performed. The write is not performed again. @throws as `perform`, if something stays */
export async function undo(work: LeasedWork): Promise<void> {
  try {
    await work.compensating();
    await work.kind.compensate(work, work.plan);
  } catch (error) {
    await (error instanceof PartiallyApplied ? refuse(work, error) : leaveOpen(work, error));
  }
}

/** Ends a write that left nothing in the EHR, or nothing that can be compensated. @throws as `perform` */
export async function refuse(work: LeasedWork, problem: Problem): Promise<never> {
  await endUnmade(work, 'not made', problem).catch((error) => leaveOpen(work, error));
  if (problem instanceof PartiallyApplied) work.services.writeMetrics.partiallyApplied(work.leased);
  throw new WriteEnded(problem);
}
