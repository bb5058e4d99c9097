import { setTimeout as sleep } from 'node:timers/promises';
import type { BackgroundOutcome, NewDraft } from '../audit/drafts.ts';
import { currentContext } from '../context/work-context.ts';
import { isDatabaseFailure } from '../db/errors.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { inTransaction } from '../db/retry.ts';
import { LeaseLost } from '../db/write-lease.ts';
import { outcomeUnknownInDatabase, Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { WriteEnded } from '../problems/write-errors.ts';
import { type EhrState, type EndEvent, type KeyState, rowAfter } from './end-table.ts';
import { storeEnd, writeRecords } from './store-end.ts';
import type { Leased } from './stored-write.ts';
import { isStoredUnderKey, sealOutcome } from './stored-write.ts';
import type { LeasedWork } from './work.ts';
import type { WriteResponse } from './write-kind.ts';

/** How a write ends. */
export type WriteEnd =
  | Made
  | { readonly is: 'not made'; readonly problem?: Problem }
  | { readonly is: 'starts over'; readonly problem?: undefined }
  | { readonly is: 'given up'; readonly problem: Problem };

interface Made {
  readonly is: 'made';
  readonly outcome: unknown;
  readonly problem?: undefined;
}

/**
 * Ends a write in one transaction, or one statement if its kind has no records: its row becomes what the table says, with its
 * events and its entry of the audit trail.
 *
 * @throws Problem (4xx) of the kind's `record`, with which the write must be refused; LeaseLost
 */
export async function end(work: LeasedWork, how: Made): Promise<WriteResponse>;
export async function end(work: LeasedWork, how: WriteEnd): Promise<WriteResponse | undefined>;
export async function end(work: LeasedWork, how: WriteEnd): Promise<WriteResponse | undefined> {
  const { services, kind, plan } = work;
  const isOneStatement = how.is === 'made' && !kind.hasRecords(plan);
  const response = isOneStatement
    ? await store(services.db, work, how, kind.respond(work, plan, how.outcome))
    : await inTransaction(services.db, async (tx) => {
        if (how.is !== 'made') await kind.cleanUp?.(tx, work, plan, how.problem);
        return store(tx, work, how, await recorded(tx, work, how));
      });
  if (how.is !== 'starts over') noteRecorded(auditOutcome(work, how));
  return response;
}

/** Ends a write in the transaction that would have stored its plan: it is refused there, or has nothing for the EHR. */
export async function endAtOnce(tx: Tx, work: LeasedWork, how: Made): Promise<WriteResponse>;
export async function endAtOnce(tx: Tx, work: LeasedWork, how: WriteEnd): Promise<WriteResponse | undefined>;
export async function endAtOnce(tx: Tx, work: LeasedWork, how: WriteEnd): Promise<WriteResponse | undefined> {
  return store(tx, work, how, await recorded(tx, work, how), work.leased.keyHash !== null);
}

async function recorded(tx: Tx, work: LeasedWork, how: WriteEnd): Promise<WriteResponse | undefined> {
  return how.is === 'made' ? work.kind.record(tx, work, work.plan, how.outcome) : undefined;
}

/** @param hasRow `false`: the transaction would have stored it */
async function store(db: Db | Tx, work: LeasedWork, how: WriteEnd, response?: WriteResponse, hasRow = true) {
  const { services, leased, ehr, kind, plan } = work;
  const drafts = how.is === 'starts over' ? [] : draftsOf(work, auditOutcome(work, how), response?.body);
  const events = how.is === 'made' && response ? kind.events?.(work, plan, how.outcome, response) : undefined;
  if (!hasRow) {
    await writeRecords(db, { events, drafts });
    return response;
  }
  const event = eventOf(work, how);
  const ehrState = work.ehrState(event);
  // No caller has got the problem of a write that is given up.
  const sealed = { ...leased, requestId: event === 'given up' ? undefined : leased.requestId };
  const outcome = event === 'refused' || event === 'given up' ? how.problem : response;
  const row = rowAfter(event, ehrState, keyStateOf(leased));
  await storeEnd(db, row, {
    ...leased,
    attempt: attemptAfter(leased, ehrState),
    settlingSeconds: ehr.times.settlingSeconds,
    hadEffect: event === 'made',
    sealedResponse: outcome ? sealOutcome(services.keys, sealed, outcome) : null,
    events,
    drafts,
  });
  return response;
}

function eventOf({ hasCaller }: LeasedWork, { is, problem }: WriteEnd): EndEvent {
  if (is !== 'not made' || !problem) return is;
  if (problem.status === 429) return 'refused for now';
  return hasCaller && isStoredUnderKey(problem) ? 'refused' : 'not made';
}

function keyStateOf({ keyHash, hasResponse }: Leased): KeyState {
  if (hasResponse) return 'response';
  return keyHash === null ? 'no key' : 'key';
}

/** Ids that the EHR has used for what was undone are not used again. */
export function attemptAfter({ attempt }: Leased, ehr: EhrState): number {
  return ehr === 'undone' ? attempt + 1 : attempt;
}

function auditOutcome(work: LeasedWork, { is, problem }: WriteEnd): RecordedOutcome {
  if (is === 'made') return 'success';
  return problem?.reason ?? (work.ehrState(is) === 'undone' ? 'undone' : 'not_done');
}

/**
 * Leaves a write to a retry or background recovery after an error that does not tell its outcome. Throws WriteEnded with
 * `outcome_unknown`, or without a caller the error itself: background recovery tries again later, and finally suspends the write.
 */
export async function leaveOpen({ services, leased, ehr, hasCaller }: LeasedWork, error: unknown): Promise<never> {
  if (!hasCaller) throw error;
  if (error instanceof LeaseLost) services.writeMetrics.leaseLost(ehr.id);
  return tellUnknown(services.db, leased, error);
}

/** Once the EHR has been called, any failure that proves nothing leaves the outcome unknown. @throws WriteEnded */
export async function tellUnknown(db: Db, leased: Leased, error: unknown): Promise<never> {
  await releaseSoon(db, leased);
  if (error instanceof Problem && error.reason === 'outcome_unknown') throw new WriteEnded(error);
  const isOurs = isDatabaseFailure(error);
  throw new WriteEnded(isOurs ? outcomeUnknownInDatabase(error) : new Problem('outcome_unknown', { cause: error }));
}

/**
 * Releases the lease after `outcome_unknown` was reported. If the database hesitates, the caller gets its response after a second;
 * if it is down, the lease expires on its own.
 */
export async function releaseSoon(db: Db, leased: Leased): Promise<void> {
  const released = storeEnd(db, rowAfter('unknown', 'late', keyStateOf(leased)), leased).catch(() => undefined);
  const waited = new AbortController();
  await Promise.race([released, sleep(1_000, undefined, { signal: waited.signal }).catch(() => undefined)]);
  waited.abort();
}

type RecordedOutcome = 'success' | Reason | BackgroundOutcome;

/**
 * The draft of the present access, for the statement that ends its write. Empty if the work leaves no entry.
 *
 * @param body of the response
 */
function draftsOf(
  { services, leased, kind, plan }: LeasedWork,
  outcome: RecordedOutcome,
  body?: object,
): readonly NewDraft[] {
  const access = currentContext().access?.describe(outcome, body);
  if (!access) return [];
  const patients = [...access.patients, ...kind.patientsOf(plan).map((id) => `emr_id:${id}`)];
  // A background job that reached no patient's records leaves no entry.
  if (access.actor === 'background' && patients.length === 0) return [];
  return [services.audit.draft({ ...access, patients, writeId: leased.id })];
}

/** Notes that the transaction with the draft has committed, so that nobody records the same outcome again. */
export function noteRecorded(outcome: RecordedOutcome): void {
  const { access } = currentContext();
  if (access) access.recorded = outcome;
}
