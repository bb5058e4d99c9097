import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseFailure } from '../db/errors.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { LeaseLost } from '../db/operation-lease.ts';
import { inTransaction } from '../db/retry.ts';
import { isFinal, isSettled, OperationEnded, PartiallyApplied } from '../problems/operation-errors.ts';
import { outcomeUnknownInDatabase, Problem } from '../problems/problem.ts';
import { draftsOf, noteRecorded, type RecordedOutcome } from './audit-draft.ts';
import type { OperationResponse } from './operation-response.ts';
import { isStoredUnderKey, sealProblem, sealResponse } from './sealed-outcome.ts';
import {
  monitor,
  releaseLeaseAsUnknown,
  removeOperation,
  resetForRetry,
  stopMonitoring,
  storeResponse,
  writeRecords,
} from './store-end.ts';
import type { Leased } from './stored-operation.ts';
import type { LeasedWork } from './work.ts';

/** Calls the EHR and ends the operation. The plan is stored, and this process holds the lease. */
export async function perform(work: LeasedWork): Promise<OperationResponse> {
  const { kind, plan, isFirst } = work;
  let outcome: unknown;
  try {
    outcome = await kind.perform(work, plan);
  } catch (error) {
    const isOver = isFinal(error) || (isSettled(error) && isFirst);
    return isOver && !kind.isRepeatable ? rejectOperation(work, error) : leaveOpen(work, error);
  }
  return finish(work, outcome);
}

/**
 * Ends an operation that the EHR has performed: stores its records and its response in one transaction.
 *
 * @throws OperationEnded with the problem that `record` throws, after compensation; with `outcome_unknown` when the
 *   result could not be stored. A retry or background recovery then finds out the outcome.
 */
export async function finish(work: LeasedWork, outcome: unknown): Promise<OperationResponse> {
  const { services, kind, plan } = work;
  try {
    const response = kind.hasRecords(plan)
      ? await inTransaction(services.db, (tx) => endWithRecords(tx, work, outcome))
      : await endWithResponse(services.db, work, outcome, kind.respond(work, plan, outcome));
    noteRecorded('success');
    return response;
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return compensateRejected(work, error);
    return leaveOpen(work, error);
  }
}

/** Stores the records of a performed operation with its end. @throws Problem of `record` */
export async function endWithRecords(tx: Tx, work: LeasedWork, outcome: unknown): Promise<OperationResponse> {
  return endWithResponse(tx, work, outcome, await work.kind.record(tx, work, work.plan, outcome));
}

async function endWithResponse(
  db: Db | Tx,
  work: LeasedWork,
  outcome: unknown,
  response: OperationResponse,
): Promise<OperationResponse> {
  const { services, operation, ehr, kind, plan } = work;
  const sealed = sealResponse(services.keys, operation, response);
  const events = kind.events?.(work, plan, outcome, response) ?? [];
  const records = { events, drafts: draftsOf(work, 'success', response.body) };
  if (work.mayBeRepeated)
    await monitor(db, { ...operation, ...ehr.patience, sealedResponse: sealed, hadEffect: true }, records);
  else if (!sealed && !kind.callsEhr(plan)) await writeRecords(db as Tx, records);
  else await storeResponse(db, operation, sealed, records);
  return response;
}

/** Compensates an operation that the EHR has performed but the gateway must reject. */
async function compensateRejected(work: LeasedWork, problem: Problem): Promise<never> {
  try {
    await compensate(work);
  } catch (error) {
    return error instanceof PartiallyApplied ? rejectOperation(work, error) : leaveOpen(work, error);
  }
  return rejectOperation(work, problem);
}

/** Reverts what the EHR has performed. The operation is not performed again. @throws PartiallyApplied */
export async function compensate(work: LeasedWork): Promise<void> {
  await work.compensating();
  await work.kind.compensate(work, work.plan);
}

/**
 * Ends an operation that left nothing in the EHR, or nothing that can be compensated. Throws the problem, or
 * `outcome_unknown` when the end could not be stored.
 */
export async function rejectOperation(work: LeasedWork, problem: Problem): Promise<never> {
  try {
    await endWithout(work, problem.reason, (tx) => settle(tx, work, problem), problem);
  } catch (error) {
    return leaveOpen(work, error);
  }
  const { id: operationId, emr } = work.operation;
  if (problem instanceof PartiallyApplied) work.services.operationMetrics.partiallyApplied({ operationId, emr });
  throw new OperationEnded(problem);
}

/** Ends an operation without its effect: cleans up what it reserved, settles its row and leaves an entry, in one transaction. */
export async function endWithout(
  work: LeasedWork,
  outcome: RecordedOutcome,
  settleRow: (tx: Tx) => Promise<void>,
  problem?: Problem,
): Promise<void> {
  await inTransaction(work.services.db, async (tx) => {
    await work.kind.cleanUp?.(tx, work, work.plan, problem);
    await settleRow(tx);
    await writeRecords(tx, { drafts: draftsOf(work, outcome) });
  });
  noteRecorded(outcome);
}

/**
 * Settles the row of an operation without effect. The problem is stored under the key if a caller gets it. After
 * compensation a retry starts over with new ids, since the EHR has used these; without one, the EHR may still process an earlier
 * call, unless it settles changes.
 */
export async function settle(tx: Tx, work: LeasedWork, problem?: Problem): Promise<void> {
  const { operation, services, ehr, isFirst, wasCompensated, hasCaller } = work;
  const { keyHash, attempt, hasResponse } = operation;
  const isTold = hasCaller && problem !== undefined && isStoredUnderKey(problem);
  const sealed = isTold ? sealProblem(services.keys, operation, problem) : null;
  if (!isFirst && !wasCompensated && !ehr.offers('settleChanges'))
    return monitor(tx, { ...operation, ...ehr.patience, sealedResponse: sealed, hadEffect: false });
  if (sealed) return storeResponse(tx, operation, sealed);
  if (hasResponse) return stopMonitoring(tx, operation);
  if (keyHash === null || problem?.status === 429) return removeOperation(tx, operation);
  return resetForRetry(tx, operation, wasCompensated ? attempt + 1 : attempt);
}

/**
 * Leaves the operation to a retry or background recovery after an error that does not tell its outcome. Throws
 * OperationEnded with `outcome_unknown`, or the error itself in background recovery.
 */
export async function leaveOpen(work: LeasedWork, error: unknown): Promise<never> {
  // Background recovery tries again later, and finally suspends the operation.
  if (!work.hasCaller) throw error;
  if (error instanceof LeaseLost) work.services.operationMetrics.leaseLost(work.ehr.id);
  await releaseLeaseSoon(work.services.db, work.operation);
  throw new OperationEnded(asOutcomeUnknown(error));
}

/**
 * Releases the lease after `outcome_unknown` was reported. If the database hesitates, the caller gets its response after a second;
 * if it is down, the lease expires on its own.
 */
export async function releaseLeaseSoon(db: Db, operation: Leased): Promise<void> {
  const released = releaseLeaseAsUnknown(db, operation).catch(() => undefined);
  const waited = new AbortController();
  await Promise.race([released, sleep(1_000, undefined, { signal: waited.signal }).catch(() => undefined)]);
  waited.abort();
}

/** Once the EHR has been called, any failure that proves nothing leaves the outcome unknown. */
export function asOutcomeUnknown(error: unknown): Problem {
  if (error instanceof Problem && error.reason === 'outcome_unknown') return error;
  return isDatabaseFailure(error) ? outcomeUnknownInDatabase(error) : new Problem('outcome_unknown', { cause: error });
}
