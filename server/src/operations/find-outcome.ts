import { keptProblem, Problem } from '../problems/problem.ts';
import { sealKept } from './claim.ts';
import { Ended, inTransaction } from './end.ts';
import type { AnyKind } from './kind.ts';
import { storeAnswer } from './store-end.ts';
import type { Stored } from './stored-operation.ts';
import type { Run } from './work.ts';

/**
 * What became of an operation in the EHR.
 *
 * - `in part`: some of its steps are done
 * - `not done`: nothing shows, and the time in which the EHR may still finish it is over
 * - `too early`: nothing shows yet
 */
export type FoundOutcome = { readonly outcome: unknown } | 'in part' | 'not done' | 'too early';

/**
 * Looks the operation up in the EHR.
 *
 * @throws Ended when an EHR that does not know operations has not shown it for so long that it is given up
 */
export async function findOutcome(run: Run, kind: AnyKind, stored: Stored): Promise<FoundOutcome> {
  const found = await kind.lookUp(run, stored.plan);
  if (found === 'not known') {
    await giveUpIfOverdue(run, kind, stored);
    return 'too early';
  }
  if (found === 'nothing') return stored.silence < run.ehr.patience.settlingSeconds ? 'too early' : 'not done';
  return found;
}

/** How long the gateway looks for an operation in an EHR without `findOperation`. */
const patienceSeconds = 120;

/**
 * Ends an operation that an EHR without `findOperation` has not shown for too long. It is not done again, and every retry
 * gets the same problem.
 *
 * @throws Ended when it has ended
 */
export async function giveUpIfOverdue(run: Run, kind: AnyKind, stored: Stored): Promise<void> {
  if (stored.silence < patienceSeconds) return;
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
  throw new Ended(problem);
}

/** Whether the EHR can be asked what it has done under an operation id, and does nothing twice under one. */
export function knowsOperations({ ehr }: Pick<Run, 'ehr'>): boolean {
  return ehr.offers('findOperation');
}
