import { setTimeout as sleep } from 'node:timers/promises';
import type { BackgroundOutcome, NewDraft } from '../audit/drafts.ts';
import { currentContext } from '../context/work-context.ts';
import { isDatabaseFailure } from '../db/errors.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { inTransaction } from '../db/transactions.ts';
import { LeaseLost } from '../db/write-lease.ts';
import { outcomeUnknownInDatabase, Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { WriteEnded } from '../problems/write-errors.ts';
import { type EhrState, type EndEvent, type KeyState, rowAfter } from './end-table.ts';
import { type Ending, storeEnd } from './store-end.ts';
import type { Leased } from './stored-write.ts';
import { isStoredUnderKey, sealOutcome } from './stored-write.ts';
import type { LeasedWork } from './work.ts';
import type { WriteResponse } from './write-kind.ts';

/** How a write ends that is not made. */
export type Unmade = 'not made' | 'starts over' | 'given up';

/**
 * Ends a write that is made, in one transaction, or one statement if its kind has no records: its row becomes what the table
 * says, with its events and its entry of the audit trail.
 *
 * @throws Problem (4xx) of the kind's `record`, with which the write must be refused; LeaseLost
 */
export async function endMade(work: LeasedWork, outcome: unknown): Promise<WriteResponse> {
  const { services, kind, plan } = work;
  const response = kind.hasRecords(plan)
    ? await inTransaction(services.db, (tx) => recordAndEnd(tx, work, outcome))
    : await storeMade(services.db, work, outcome, kind.respond(work, plan, outcome));
  noteRecorded('success');
  return response;
}

/** As `endMade`, in a transaction. */
export async function recordAndEnd(tx: Tx, work: LeasedWork, outcome: unknown): Promise<WriteResponse> {
  return storeMade(tx, work, outcome, await work.kind.record(tx, work, work.plan, outcome));
}

async function storeMade(db: Db | Tx, work: LeasedWork, outcome: unknown, response: WriteResponse) {
  const events = work.kind.events?.(work, work.plan, outcome, response);
  await store(db, work, 'made', { response, drafts: draftsOf(work, 'success', response.body), events });
  return response;
}

/** Ends a write that is not made, in one transaction. @throws LeaseLost */
export async function endUnmade(work: LeasedWork, how: Unmade, problem?: Problem): Promise<void> {
  await inTransaction(work.services.db, async (tx) => {
    await work.kind.cleanUp?.(tx, work, work.plan, problem);
    await storeUnmade(tx, work, how, problem);
  });
  if (how !== 'starts over') noteRecorded(outcomeOf(work, how, problem));
}

/** The end of a write that is not made, in a transaction. What `decide` marked stays. */
export async function storeUnmade(tx: Tx, work: LeasedWork, how: Unmade, problem?: Problem): Promise<void> {
  const drafts = how === 'starts over' ? [] : draftsOf(work, outcomeOf(work, how, problem));
  const event = eventOf(work, how, problem);
  const response = event === 'refused' || event === 'given up' ? problem : undefined;
  await store(tx, work, event, { response, drafts });
}

interface Stored extends Pick<Ending, 'events' | 'drafts'> {
  readonly response: WriteResponse | Problem | undefined;
}

async function store(db: Db | Tx, work: LeasedWork, event: EndEvent, { response, ...records }: Stored): Promise<void> {
  const { services, leased, ehr } = work;
  const ehrState = work.ehrState(event);
  // No caller has got the problem of a write that is given up.
  const sealed = { ...leased, requestId: event === 'given up' ? undefined : leased.requestId };
  await storeEnd(db, rowAfter(event, ehrState, keyStateOf(leased)), {
    ...leased,
    ...records,
    attempt: attemptAfter(leased, ehrState),
    settlingSeconds: ehr.times.settlingSeconds,
    hadEffect: event === 'made',
    sealedResponse: response ? sealOutcome(services.keys, sealed, response) : null,
  });
}

function eventOf({ hasCaller }: LeasedWork, how: Unmade, problem: Problem | undefined): EndEvent {
  if (how !== 'not made' || !problem) return how;
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

/** For the audit trail. */
function outcomeOf(work: LeasedWork, how: Unmade, problem: Problem | undefined): RecordedOutcome {
  return problem?.reason ?? (work.ehrState(how) === 'undone' ? 'undone' : 'not_done');
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
