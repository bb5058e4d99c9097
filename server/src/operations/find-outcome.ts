import { keptProblem, Problem } from '../problems/problem.ts';
import { sealStored } from './claim.ts';
import { inTransaction, OperationEnded } from './end.ts';
import type { AnyKind } from './kind.ts';
import { draftsOf, noteRecorded } from './record-end.ts';
import { storeResponse } from './store-end.ts';
import type { Stored } from './stored-operation.ts';
import type { Run } from './work.ts';

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
export async function findOutcome(run: Run, kind: AnyKind, stored: Stored): Promise<FoundOutcome> {
  const found = await kind.lookUp(run, stored.plan);
  if (found === 'not known') {
    await giveUpIfOverdue(run, kind, stored);
    return 'too early';
  }
  if (found === 'nothing') return stored.silence < run.ehr.patience.settlingSeconds ? 'too early' : 'not done';
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
export async function giveUpIfOverdue(run: Run, kind: AnyKind, stored: Stored): Promise<void> {
  if (stored.silence < patienceSeconds) return;
  const problem = new Problem('outcome_unknown', {
    detail: 'The EHR may or may not have made the change and shows no sign of it. It will not be made again.',
    retryable: false,
  });
  const { services, operation } = run;
  const { keyHash, clientId } = operation;
  await inTransaction(run, async (tx) => {
    await kind.releaseReservations(tx, run, stored.plan, undefined);
    const sealed = keyHash && sealStored(services.keys, clientId, keyHash, { problem: keptProblem(problem) });
    await storeResponse(tx, operation, sealed, { drafts: draftsOf(run, problem.reason) });
  });
  noteRecorded(problem.reason);
  services.operationMetrics.outcomeLost({ operationId: operation.id, emr: operation.emr });
  throw new OperationEnded(problem);
}
