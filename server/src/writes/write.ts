import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beganWrite } from '../context/work-context.ts';
import { mayHaveBeenSent } from '../db/errors.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { inTransaction } from '../db/retry.ts';
import { LeaseLost, releaseLease } from '../db/write-lease.ts';
import { Problem } from '../problems/problem.ts';
import { OutdatedPlan, WriteEnded } from '../problems/write-errors.ts';
import { sinceBoot } from '../time/since-boot.ts';
import { answerOfKey, type Claim, claimKey, inProgress, type Key, type KeyAndContent, openKey } from './claim.ts';
import { endAtOnce, noteRecorded, releaseSoon, tellUnknown } from './end.ts';
import { rowAfter } from './end-table.ts';
import { perform } from './perform.ts';
import { resume } from './recover.ts';
import { storeEnd } from './store-end.ts';
import { nothingPlanned, storePlan } from './store-plan.ts';
import { isStoredUnderKey, type Leased, sealOutcome, sealPlan } from './stored-write.ts';
import { type LeasedWork, leasedWork, leaseSeconds } from './work.ts';
import type { InCareUnit, PlannedWrite, WriteResponse, WriteServices } from './write-kind.ts';

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
  const { clientId, ehr, careUnit, requestId } = request;
  const place = { clientId, emr: ehr.id, careUnitId: careUnit.id };
  const key = request.keyed && (await openKey(services, { ...place, ...request.keyed }));
  const keyless = { ...place, id: randomUUID(), token: randomUUID(), keyHash: null, attempt: 0 };
  const leased: Leased = { ...(key?.leased ?? keyless), requestId };
  services.liveTokens.add(leased.token);
  try {
    return await planAndPerform(services, request, leased, key);
  } catch (error) {
    // Another process has taken over the write, and responds for itself.
    if (error instanceof LeaseLost) throw inProgress();
    throw error instanceof WriteEnded ? error.problem : error;
  } finally {
    services.liveTokens.delete(leased.token);
  }
}

/** @param key to claim. Absent: there is none, or this request holds it already */
async function planAndPerform(
  services: WriteServices,
  request: WriteRequest,
  leased: Leased,
  key?: Key,
): Promise<WriteResponse> {
  const giveUpAt = performance.now() + planningMs;
  for (;;) {
    let begun: PlanStored;
    try {
      begun = await planAndStore(services, request, leased, key);
    } catch (error) {
      if (error instanceof OutdatedPlan && performance.now() < giveUpAt) {
        await sleep(pauseMs);
        continue;
      }
      begun = await endUnstored(services, request, leased, key, error);
    }
    if (begun.state === 'stored') return perform(begun.work);
    if (begun.state === 'interrupted') return continueEarlier(services, request, begun);
    if (begun.outcome instanceof Problem) throw begun.outcome;
    return begun.outcome;
  }
}

type PlanStored =
  /** The plan is stored, and this process holds the lease. */
  | { readonly state: 'stored'; readonly work: LeasedWork }
  /** Nothing was left for the EHR, or the transaction has decided against the write. */
  | { readonly state: 'ended'; readonly outcome: WriteResponse | Problem }
  | Exclude<Claim, { readonly state: 'new' }>;

async function planAndStore(
  services: WriteServices,
  request: WriteRequest,
  leased: Leased,
  key: Key | undefined,
): Promise<PlanStored> {
  const planned = await unlessAnswered(request.plan(), async () => key && answerOfKey(services, key));
  if ('state' in planned) return planned;
  await request.begin();
  return store(services, request, leased, key, planned).catch((error) => {
    // Nothing is known: the plan may be stored, or may still become so. It is left to a retry and to background recovery.
    return mayHaveBeenSent(error) ? tellUnknown(services.db, leased, error) : Promise.reject(error);
  });
}

/** Milliseconds. Long enough that a slow EHR or a busy gateway does not cause a look-up for each request. */
const longPlanningMs = 1000;

/** Waits for a plan, and for the answer of an earlier request with the key if planning takes long: the EHR may hang. */
async function unlessAnswered<Planned, Answer>(planning: Promise<Planned>, find: () => Promise<Answer | undefined>) {
  const answered = Promise.withResolvers<Answer>();
  const look = async () => {
    // A failure of the database is reported by the claim of the key.
    const answer = await find().catch(() => undefined);
    if (answer) answered.resolve(answer);
  };
  const timer = setTimeout(look, longPlanningMs);
  try {
    return await Promise.race([planning, answered.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Claims the key and stores the plan: one statement if there is nothing to decide, otherwise one transaction, which decides.
 * A plan that has nothing for the EHR, such as the release of a draft, is performed and ended in the same transaction.
 */
async function store(
  services: WriteServices,
  request: WriteRequest,
  leased: Leased,
  key: Key | undefined,
  { kind, plan, decide }: PlannedWrite,
): Promise<PlanStored> {
  const { ehr, careUnit } = request;
  const callsEhr = kind.callsEhr(plan);
  const seconds = leaseSeconds(ehr);
  const planned = {
    ...nothingPlanned,
    ...kind.reservation?.({ ...request, services }, plan),
    kind: kind.name,
    sealedPlan: sealPlan(services.keys, leased, plan),
  };
  const storeUnclaimed = (to: Db | Tx) => storePlan(to, { ...leased, ...planned, leaseSeconds: seconds });
  let leasedAt = sinceBoot();
  // Not if an earlier attempt, which left nothing, may still reach the EHR late.
  const work = (expiresAt: Date | null, isFirst = !leased.isMonitored) =>
    leasedWork(services, leased, { ehr, careUnit, kind, plan, expiresAt, leasedAt, isFirst, hasCaller: true });
  beganWrite(leased.id);

  if (callsEhr && !decide) {
    const claim = key && (await claimKey(services.db, services, key, planned, seconds));
    if (claim && claim.state !== 'new') return claim;
    return { state: 'stored', work: work(claim ? claim.expiresAt : await storeUnclaimed(services.db)) };
  }
  const begun = await inTransaction<PlanStored>(services.db, async (tx, begunAt) => {
    // Leases begin with the transaction: `now()` is its start, and the decision may wait for locks.
    leasedAt = begunAt;
    const claim = key && (await claimKey(tx, services, key, planned, seconds));
    if (claim && claim.state !== 'new') return { ...claim, leasedAt };
    const problem = await decide?.(tx, leased.id);
    if (problem) {
      // What it counted is counted once for the key, and only under the lease.
      if (!isStoredUnderKey(problem)) throw problem;
      await endAtOnce(tx, work(null), { is: 'not made', problem });
      return { state: 'ended', outcome: problem };
    }
    if (callsEhr) return { state: 'stored', work: work(claim ? claim.expiresAt : await storeUnclaimed(tx)) };
    const ending = work(null, true);
    const outcome = await kind.perform(ending, plan);
    return { state: 'ended', outcome: await endAtOnce(tx, ending, { is: 'made', outcome }) };
  });
  if (begun.state === 'ended') noteRecorded(begun.outcome instanceof Problem ? begun.outcome.reason : 'success');
  return begun;
}

/**
 * Ends a request that failed before its plan was stored. A problem that will not change is stored under the key; after any
 * other failure a retry starts over. But an earlier request with the key may have succeeded: it decides.
 */
async function endUnstored(
  { db, keys, liveTokens }: WriteServices,
  { ehr }: WriteRequest,
  leased: Leased,
  key: Key | undefined,
  error: unknown,
): Promise<PlanStored> {
  if (leased.keyHash === null || error instanceof WriteEnded || error instanceof LeaseLost) throw error;
  const problem = error instanceof Problem && isStoredUnderKey(error) ? error : undefined;
  const row = rowAfter(problem ? 'refused' : 'not made', leased.isMonitored ? 'late' : 'done', 'key');
  const sealedResponse = problem ? sealOutcome(keys, leased, problem) : null;
  const ending = { ...leased, ...ehr.times, sealedResponse };
  if (!key) {
    await storeEnd(db, row, ending);
    throw error;
  }
  return inTransaction<PlanStored>(db, async (tx, leasedAt) => {
    const claim = await claimKey(tx, { keys, liveTokens }, key, nothingPlanned, leaseSeconds(ehr));
    if (claim.state !== 'new') return { ...claim, leasedAt };
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
  services: WriteServices,
  request: WriteRequest,
  { leased, leasedAt }: Extract<Claim, { readonly state: 'interrupted' }>,
): Promise<WriteResponse> {
  const { requestId } = request;
  await request.begin().catch(async (error) => {
    await releaseLease(services.db, leased).catch(() => undefined);
    throw error;
  });
  const resumed = await resume(services, { ...leased, requestId }, leasedAt);
  return 'body' in resumed ? resumed : planAndPerform(services, request, { ...resumed.restart, requestId });
}
