import { setTimeout as sleep } from 'node:timers/promises';
import { beganWrite } from '../context/work-context.ts';
import { mayHaveBeenSent } from '../db/errors.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { inTransaction } from '../db/transactions.ts';
import { LeaseLost, releaseLease } from '../db/write-lease.ts';
import { Problem } from '../problems/problem.ts';
import { ifMade, OutdatedPlan, WriteEnded } from '../problems/write-errors.ts';
import { type Answered, answerOfKey, type Claim, claimKey, inProgress, type KeyAndContent, newWrite } from './claim.ts';
import { noteRecorded, recordAndEnd, releaseSoon, storeUnmade, tellUnknown } from './end.ts';
import { rowAfter } from './end-table.ts';
import { perform } from './perform.ts';
import { resume } from './recover.ts';
import { storeEnd } from './store-end.ts';
import { nothingPlanned } from './store-plan.ts';
import { isStoredUnderKey, type Leased, sealOutcome, sealPlan } from './stored-write.ts';
import { type LeasedWork, leasedWork, leaseSeconds } from './work.ts';
import type { Decide, InCareUnit, PlannedWrite, WriteResponse, WriteServices } from './write-kind.ts';

export interface WriteRequest extends InCareUnit {
  readonly clientId: string;
  readonly requestId: string;
  /** `undefined` without an `Idempotency-Key`. */
  readonly keyed: KeyAndContent | undefined;
  /** Looks up what the write needs, and checks the rules. Called again if another request changes what it has read. */
  plan(): Promise<PlannedWrite>;
  /** Called before the first effect. @throws Problem if nobody waits for the response any longer */
  begin(): Promise<void>;
}

/** A request, and the write that it makes. */
interface Attempt extends Omit<WriteRequest, 'keyed'> {
  readonly services: WriteServices;
  readonly leased: Leased;
}

/** Milliseconds. How long a request plans again while another one changes what it has read. */
const planningMs = 3_000;
const pauseMs = 40;

/**
 * Makes a write, at most once for each `Idempotency-Key`. A second request with the key gets the stored response. If the first
 * one was interrupted, the second one finishes its write.
 *
 * The plan is stored before the EHR is called. Afterwards the gateway's records and the response are stored in one
 * transaction. No database connection is held in between. A retry or background recovery finishes interrupted writes.
 */
export async function write(services: WriteServices, request: WriteRequest): Promise<WriteResponse> {
  const { clientId, requestId, ehr, careUnit, keyed } = request;
  const leased = await newWrite(services, { clientId, requestId, emr: ehr.id, careUnitId: careUnit.id, keyed });
  services.liveTokens.add(leased.token);
  try {
    return await planAndPerform({ ...request, services, leased });
  } catch (error) {
    // Another process has taken over the write, and responds for itself.
    if (error instanceof LeaseLost) throw inProgress();
    throw error instanceof WriteEnded ? error.problem : error;
  } finally {
    services.liveTokens.delete(leased.token);
  }
}

async function planAndPerform(attempt: Attempt): Promise<WriteResponse> {
  const giveUpAt = performance.now() + planningMs;
  for (;;) {
    const begun = await planAndStore(attempt).catch((error) => {
      const isOutdated = error instanceof OutdatedPlan && performance.now() < giveUpAt;
      return isOutdated ? undefined : endUnstored(attempt, error);
    });
    if (!begun) await sleep(pauseMs);
    else if (begun.state === 'stored') return perform(begun.work);
    else if (begun.state === 'interrupted') return continueEarlier(attempt, begun);
    else if (begun.outcome instanceof Problem) throw begun.outcome;
    else return begun.outcome;
  }
}

type PlanStored =
  /** The plan is stored, and this process holds the lease. */
  | { readonly state: 'stored'; readonly work: LeasedWork }
  /** Nothing was left for the EHR, or the transaction has decided against the write. */
  | { readonly state: 'ended'; readonly outcome: WriteResponse | Problem }
  | Exclude<Claim, { readonly state: 'new' }>;

async function planAndStore(attempt: Attempt): Promise<PlanStored> {
  const { services, leased } = attempt;
  const planned = await planUnlessAnswered(attempt);
  if ('state' in planned) return planned;
  await attempt.begin();
  return store(attempt, planned).catch((error) => {
    // Nothing is known: the plan may be stored, or may still become so. It is left to a retry and to background recovery.
    return mayHaveBeenSent(error) ? tellUnknown(services.db, leased, error) : Promise.reject(error);
  });
}

/** Milliseconds. Long enough that a slow EHR or a busy gateway does not cause a look-up for each request. */
const longPlanningMs = 1000;

/** Plans. If that takes long, an earlier request with the key may answer: the EHR may hang. */
async function planUnlessAnswered({ services, leased, plan }: Attempt): Promise<PlannedWrite | Answered> {
  const answered = Promise.withResolvers<Answered>();
  const timer = setTimeout(async () => {
    // A failure of the database is reported by the claim of the key.
    const answer = await answerOfKey(services, leased).catch(() => undefined);
    if (answer) answered.resolve(answer);
  }, longPlanningMs);
  try {
    return await Promise.race([plan().catch(ifMade), answered.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Stores the plan: by one statement if there is nothing to decide, otherwise in one transaction, which decides. */
async function store(attempt: Attempt, { kind, plan, decide }: PlannedWrite): Promise<PlanStored> {
  const { services, leased, ehr, careUnit } = attempt;
  const reserved = { ...nothingPlanned, ...kind.reservation?.(attempt, plan), ...kind.daysTaken?.(careUnit, plan) };
  const sealedPlan = sealPlan(services.keys, leased, plan);
  const planned = { ...reserved, kind: kind.name, sealedPlan, leaseSeconds: leaseSeconds(ehr) };
  // Not the first call if an earlier attempt, which left nothing, may still reach the EHR late.
  const about = { ehr, careUnit, kind, plan, isFirst: !leased.isMonitored, hasCaller: true };
  const storePlan = async (to: Db | Tx, begunAt?: number) => {
    const claim = await claimKey(to, services, leased, planned, begunAt);
    if (claim.state !== 'new') return claim;
    return { state: 'stored', work: leasedWork(services, leased, { ...about, ...claim }) } as const;
  };
  beganWrite(leased.id);
  if (kind.callsEhr(plan) && !decide) return storePlan(services.db);
  // Leases begin with the transaction: `now()` is its start, and the decision may wait for locks.
  const begun = await inTransaction<PlanStored>(services.db, async (tx, begunAt) => {
    const refused = (work: LeasedWork) => refusal(tx, work, decide);
    // The plan of the earlier attempt stays if this one is refused.
    const restarted = { ...about, expiresAt: null, leasedAt: begunAt };
    const early = leased.isMonitored && (await refused(leasedWork(services, leased, restarted)));
    const stored = early || (await storePlan(tx, begunAt));
    if (stored.state !== 'stored') return stored;
    return (!leased.isMonitored && (await refused(stored.work))) || endIfDone(tx, stored.work);
  });
  if (begun.state === 'ended') noteRecorded(begun.outcome instanceof Problem ? begun.outcome.reason : 'success');
  return begun;
}

/** Decides, and ends what is refused. */
async function refusal(tx: Tx, work: LeasedWork, decide: Decide | undefined): Promise<PlanStored | undefined> {
  const problem = await decide?.(tx, work.writeId);
  if (!problem) return undefined;
  // What it counted is counted once for the key, and only under the lease.
  if (!isStoredUnderKey(problem)) throw problem;
  await storeUnmade(tx, work, 'not made', problem);
  return { state: 'ended', outcome: problem };
}

/** A plan that has nothing for the EHR, such as the release of a draft, is performed and ended at once. */
async function endIfDone(tx: Tx, work: LeasedWork): Promise<PlanStored> {
  const { kind, plan } = work;
  if (kind.callsEhr(plan)) return { state: 'stored', work };
  return { state: 'ended', outcome: await recordAndEnd(tx, work, await kind.perform(work, plan)) };
}

/**
 * Ends a request that failed before its plan was stored. A problem that will not change is stored under the key; after any
 * other failure a retry starts over. But an earlier request with the key may have succeeded: it decides.
 */
async function endUnstored({ services, leased, ehr }: Attempt, error: unknown): Promise<PlanStored> {
  const { db, keys } = services;
  if (leased.keyHash === null || error instanceof WriteEnded || error instanceof LeaseLost) throw error;
  const problem = error instanceof Problem && isStoredUnderKey(error) ? error : undefined;
  const row = rowAfter(problem ? 'refused' : 'not made', leased.isMonitored ? 'late' : 'done', 'key');
  const sealedResponse = problem ? sealOutcome(keys, leased, problem) : null;
  const ending = { ...leased, ...ehr.times, sealedResponse };
  if (!leased.claims) {
    await storeEnd(db, row, ending);
    throw error;
  }
  return inTransaction<PlanStored>(db, async (tx, begunAt) => {
    const planned = { ...nothingPlanned, leaseSeconds: leaseSeconds(ehr) };
    const claim = await claimKey(tx, services, leased, planned, begunAt);
    if (claim.state !== 'new') return claim;
    if (!problem) throw new NothingToStore();
    await storeEnd(tx, row, ending);
    return { state: 'answered', outcome: problem };
  }).catch(async (failure) => {
    // It may have taken over the lease of an earlier request.
    if (mayHaveBeenSent(failure)) await releaseSoon(db, leased);
    throw failure instanceof NothingToStore ? error : failure;
  });
}

/** Rolls the claim of a key back, so that a retry starts over. */
class NothingToStore extends Error {}

/** Finishes the write of an earlier request with the key, or starts it over, unless nobody waits for it any longer. */
async function continueEarlier(
  attempt: Attempt,
  { leased, leasedAt }: Extract<Claim, { readonly state: 'interrupted' }>,
): Promise<WriteResponse> {
  const { services, requestId } = attempt;
  await attempt.begin().catch(async (error) => {
    await releaseLease(services.db, leased).catch(() => undefined);
    throw error;
  });
  const resumed = await resume(services, { ...leased, requestId }, leasedAt);
  if ('body' in resumed) return resumed;
  return planAndPerform({ ...attempt, leased: { ...resumed.restart, requestId } });
}
