import { inTransaction } from '../db/retry.ts';
import { Problem } from '../problems/problem.ts';
import { OperationEnded } from './perform.ts';
import { draftsOf, noteRecorded } from './record-end.ts';
import type { Reopened } from './reopen.ts';
import { sealProblem } from './sealed-outcome.ts';
import { storeResponse } from './store-end.ts';

/**
 * Outcome of an operation in the EHR.
 *
 * - `in part`: the EHR has performed some of its steps
 * - `not done`: no effect, and the EHR can no longer finish it late
 * - `too early`: no effect yet
 */
export type FoundOutcome = { readonly outcome: unknown } | 'in part' | 'not done' | 'too early';

/**
 * Looks the operation up in the EHR.
 *
 * @throws OperationEnded when an EHR that does not find operations by id has shown no effect for too long
 */
export async function findOutcome(work: Reopened): Promise<FoundOutcome> {
  const found = await work.kind.lookUp(work, work.plan);
  if (found === 'not known') {
    await giveUpIfOverdue(work);
    return 'too early';
  }
  if (found === 'nothing') return work.operation.silence < work.ehr.patience.settlingSeconds ? 'too early' : 'not done';
  return found;
}

/** How long the gateway looks for effects of an operation in an EHR that does not find operations by id. */
const patienceSeconds = 120;

/**
 * Ends an operation when an EHR that does not find operations by id has shown no effect for too long. It is never executed again, and
 * every retry gets the same problem.
 *
 * @throws OperationEnded if it ended the operation
 */
export async function giveUpIfOverdue(work: Reopened): Promise<void> {
  const { services, operation, kind, plan } = work;
  if (operation.silence < patienceSeconds) return;
  const problem = new Problem('outcome_unknown', {
    detail: 'The EHR may or may not have made the change and shows no sign of it. It will not be made again.',
    retryable: false,
  });
  await inTransaction(services.db, async (tx) => {
    await kind.release?.(tx, work, plan, undefined);
    // No caller has got the problem yet.
    const sealed = sealProblem(services.keys, { ...operation, requestId: undefined }, problem);
    await storeResponse(tx, operation, sealed, { drafts: draftsOf(work, problem.reason) });
  });
  noteRecorded(problem.reason);
  services.operationMetrics.outcomeLost({ operationId: operation.id, emr: operation.emr });
  throw new OperationEnded(problem);
}
