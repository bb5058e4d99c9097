import { setTimeout as sleep } from 'node:timers/promises';
import type { Db, Tx } from '../db/kysely.ts';
import { retryTransaction } from '../db/retry.ts';
import { keptProblem, Problem } from '../problems/problem.ts';
import { sealStored } from './claim.ts';
import { asOutcomeUnknown, LeaseLost, PartiallyApplied } from './errors.ts';
import type { OperationKind } from './kind.ts';
import { releaseAsUnknown } from './lease.ts';
import type { OperationResponse } from './operation-response.ts';
import { draftsOf, noteRecorded } from './record-end.ts';
import type { OperationServices } from './services.ts';
import {
  monitor,
  monitorRepeats,
  type Records,
  removeOperation,
  removeWithoutSync,
  storeResponse,
  writeRecords,
} from './store-end.ts';
import { resetForRetry } from './store-plan.ts';
import type { Leased } from './stored-operation.ts';
import type { Run } from './work.ts';

/**
 * Ends an operation that the EHR has performed: stores its records and its response in one transaction.
 *
 * @throws OperationEnded with the problem that `record` throws, after compensation; with `outcome_unknown` when the
 *   result could not be stored. A retry or background recovery then finds out the outcome.
 */
export async function finish<Plan, Outcome>(
  run: Run,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  outcome: Outcome,
): Promise<OperationResponse> {
  const { services, operation } = run;
  try {
    if (!kind.hasRecords(plan)) {
      const response = kind.respond(run, plan, outcome);
      const sealed = sealResponse(run, response);
      const records = recordsOf(run, kind, { plan, outcome, response });
      // Without records to store, the commit need not wait for the disk. After a crash the operation is looked up and ended again.
      if (run.mayBeRepeated) {
        await monitorRepeats(services.db, operation, run.ehr.patience.settlingSeconds, sealed, records);
      } else if (sealed) await storeResponse(services.db, operation, sealed, records);
      else await removeWithoutSync(services.db, operation, records);
      noteRecorded('success');
      return response;
    }
    const response = await inTransaction(run, async (tx) => {
      const response = await kind.record(tx, run, plan, outcome);
      const sealed = sealResponse(run, response);
      const records = recordsOf(run, kind, { plan, outcome, response });
      await (run.mayBeRepeated
        ? monitorRepeats(tx, operation, run.ehr.patience.settlingSeconds, sealed, records)
        : storeResponse(tx, operation, sealed, records));
      return response;
    });
    noteRecorded('success');
    return response;
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return compensateRejected(run, kind, plan, error);
    return leaveOpen(run, error);
  }
}

interface Performed<Plan, Outcome> {
  readonly plan: Plan;
  readonly outcome: Outcome;
  readonly response: OperationResponse;
}

/** What is written with the end of an operation that was performed. */
export function recordsOf<Plan, Outcome>(
  run: Run,
  kind: OperationKind<Plan, Outcome>,
  { plan, outcome, response }: Performed<Plan, Outcome>,
): Records {
  const events = kind.events?.(run, plan, outcome, response) ?? [];
  return { events, drafts: draftsOf(run, 'success', response.body) };
}

/** Compensates an operation that the EHR has performed but the gateway must reject. */
async function compensateRejected<Plan, Outcome>(
  run: Run,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  problem: Problem,
): Promise<never> {
  try {
    await run.compensating();
    await kind.compensate(run, plan);
  } catch (error) {
    if (error instanceof PartiallyApplied) return rejectOperation(run, kind, plan, error);
    return leaveOpen(run, error);
  }
  return rejectOperation(run, kind, plan, problem);
}

/**
 * Ends an operation that left nothing in the EHR, or nothing that can be compensated. Throws the problem, or
 * `outcome_unknown` when the end could not be stored.
 */
export async function rejectOperation<Plan, Outcome>(
  run: Run,
  kind: OperationKind<Plan, Outcome>,
  plan: Plan,
  problem: Problem,
): Promise<never> {
  try {
    await inTransaction(run, async (tx) => {
      await kind.releaseReservations(tx, run, plan, problem);
      await settleRejected(tx, run, problem);
      await writeRecords(tx, { drafts: draftsOf(run, problem.reason) });
    });
  } catch (error) {
    return leaveOpen(run, error);
  }
  noteRecorded(problem.reason);
  if (problem instanceof PartiallyApplied) run.services.operationMetrics.partiallyApplied(aboutOf(run));
  throw new OperationEnded(problem);
}

function aboutOf({ operation: { id, emr } }: Run) {
  return { operationId: id, emr };
}

/** The operation's row is up to date. The caller of `execute` only has to report the problem. */
export class OperationEnded extends Error {
  readonly problem: Error;

  constructor(problem: Error) {
    super(problem.message, { cause: problem });
    this.problem = problem;
  }
}

/**
 * Leaves the operation to a retry or background recovery after an error that does not tell its outcome. Throws
 * OperationEnded with `outcome_unknown`, or the error itself in background recovery.
 */
export async function leaveOpen(run: Run, error: unknown): Promise<never> {
  if (error instanceof LeaseLost) run.services.operationMetrics.leaseLost(run.ehr.id);
  // Background recovery tries again later, and finally suspends the operation.
  if (!run.hasCaller) throw error;
  await releaseSoon(run.services.db, run.operation);
  throw new OperationEnded(asOutcomeUnknown(error));
}

/** How long a caller waits for the release of a lease, in milliseconds. */
const releasePatience = 1_000;

/**
 * Releases the lease after `outcome_unknown` was reported. If the database hesitates, the caller gets its response before;
 * if it is down, the lease expires on its own.
 */
export async function releaseSoon(db: Db, operation: Leased): Promise<void> {
  const released = releaseAsUnknown(db, operation).catch(() => undefined);
  const waited = new AbortController();
  await Promise.race([released, sleep(releasePatience, undefined, { signal: waited.signal }).catch(() => undefined)]);
  waited.abort();
}

/**
 * Whether a problem is stored under the key. Problems that depend on the moment are not. After a failure, a retry must be
 * able to find out the outcome.
 */
export function isStoredUnderKey({ status, reason }: Problem): boolean {
  return status < 500 && status !== 429 && reason !== 'idempotency_in_progress';
}

async function settleRejected(tx: Tx, run: Run, problem: Problem): Promise<void> {
  const { operation, services, ehr, isFirst, wasCompensated } = run;
  const { keyHash, attempt } = operation;
  // The EHR may still be processing an earlier call.
  const mayBeLate = !isFirst && !wasCompensated;
  if (keyHash === undefined || problem.status === 429) {
    return mayBeLate ? monitor(tx, operation, ehr.patience.settlingSeconds) : removeOperation(tx, operation);
  }
  if (!isStoredUnderKey(problem)) {
    return mayBeLate
      ? monitor(tx, operation, ehr.patience.settlingSeconds)
      : resetForRetry(tx, operation, wasCompensated ? attempt + 1 : attempt);
  }
  const sealed = sealProblem(services, operation, problem);
  return mayBeLate
    ? monitor(tx, operation, ehr.patience.settlingSeconds, sealed)
    : storeResponse(tx, operation, sealed);
}

/** `undefined` without an idempotency key. */
export function sealProblem(
  { keys }: Pick<OperationServices, 'keys'>,
  { keyHash, clientId, requestId }: Leased,
  problem: Problem,
): Buffer | undefined {
  return keyHash && sealStored(keys, clientId, keyHash, { problem: keptProblem(problem, requestId) });
}

/** `undefined` without an idempotency key. */
export function sealResponse({ services, operation }: Run, response: OperationResponse): Buffer | undefined {
  const { keyHash, clientId } = operation;
  return keyHash && sealStored(services.keys, clientId, keyHash, { response });
}

export function inTransaction<Result>({ services }: Run, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return retryTransaction(() => services.db.transaction().execute(work));
}
