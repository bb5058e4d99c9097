import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beganOperation } from '../context/work-context.ts';
import { mayHaveBeenSent } from '../db/errors.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { LeaseLost } from '../db/operation-lease.ts';
import { inTransaction } from '../db/retry.ts';
import { OperationEnded, OutdatedPlan } from '../problems/operation-errors.ts';
import { outcomeUnknownInDatabase, Problem } from '../problems/problem.ts';
import { sinceBoot } from '../time/since-boot.ts';
import { draftsOf, noteRecorded } from './audit-draft.ts';
import { answerOfKey, type Claim, claimKey, inProgress, type Key, type KeyAndContent, openKey } from './claim.ts';
import type { InCareUnit, PlannedWrite } from './kind.ts';
import type { OperationResponse } from './operation-response.ts';
import { endWithRecords, perform, releaseLeaseSoon } from './perform.ts';
import { resume } from './recover.ts';
import { isStoredUnderKey, sealProblem } from './sealed-outcome.ts';
import type { OperationServices } from './services.ts';
import { monitor, releaseLease, storeResponse, writeRecords } from './store-end.ts';
import { nothingPlanned, storePlan } from './store-plan.ts';
import { type Leased, sealPlan } from './stored-operation.ts';
import { type LeasedWork, leasedWork, leaseSeconds } from './work.ts';

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
const patience = 3_000;
const pause = 40;

/**
 * Makes a write, at most once for each `Idempotency-Key`. A second request with the key gets the stored response. If the first
 * one was interrupted, the second one finishes its operation.
 *
 * The plan is stored before the EHR is called. Afterwards the gateway's records and the response are stored in one
 * transaction. No database connection is held in between. A retry or background recovery finishes interrupted operations.
 */
export async function write(services: OperationServices, request: WriteRequest): Promise<OperationResponse> {
  const { clientId, ehr, careUnit, requestId } = request;
  const place = { clientId, emr: ehr.id, careUnitId: careUnit.id };
  const key = request.keyed && (await openKey(services, { ...place, ...request.keyed }));
  const keyless = { ...place, id: randomUUID(), token: randomUUID(), keyHash: null, attempt: 0 };
  const operation: Leased = { ...(key?.operation ?? keyless), requestId };
  services.liveTokens.add(operation.token);
  try {
    return await planAndPerform(services, request, operation, key);
  } catch (error) {
    // Another process has taken over the operation, and responds for itself.
    if (error instanceof LeaseLost) throw inProgress();
    throw error instanceof OperationEnded ? error.problem : error;
  } finally {
    services.liveTokens.delete(operation.token);
  }
}

/** @param key to claim. Absent: there is none, or this request holds it already */
async function planAndPerform(
  services: OperationServices,
  request: WriteRequest,
  operation: Leased,
  key?: Key,
): Promise<OperationResponse> {
  const giveUpAt = performance.now() + patience;
  for (;;) {
    let begun: PlanStored;
    try {
      begun = await planAndStore(services, request, operation, key);
    } catch (error) {
      if (error instanceof OutdatedPlan && performance.now() < giveUpAt) {
        await sleep(pause);
        continue;
      }
      begun = await endUnstored(services, request, operation, key, error);
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
  | { readonly state: 'ended'; readonly outcome: OperationResponse | Problem }
  | Exclude<Claim, { readonly state: 'new' }>;

async function planAndStore(
  services: OperationServices,
  request: WriteRequest,
  operation: Leased,
  key: Key | undefined,
): Promise<PlanStored> {
  const planned = await unlessAnswered(request.plan(), () => key && answerOfKey(services, key));
  if ('state' in planned) return planned;
  await request.begin();
  return store(services, request, operation, key, planned).catch(async (error) => {
    if (!mayHaveBeenSent(error)) throw error;
    // Nothing is known: the plan may be stored, or may still become so. It is left to a retry and to background recovery.
    await releaseLeaseSoon(services.db, operation);
    throw new OperationEnded(outcomeUnknownInDatabase(error));
  });
}

/** Milliseconds. Long enough that a slow EHR or a busy gateway does not cause a look-up for each request. */
const planningPatience = 1000;

/** Waits for a plan, and for the answer of an earlier request with the key if planning takes long: the EHR may hang. */
async function unlessAnswered<Planned, Answer>(
  planning: Promise<Planned>,
  find: () => Promise<Answer | undefined> | undefined,
): Promise<Planned | Answer> {
  const answered = Promise.withResolvers<Answer>();
  const look = async () => {
    // A failure of the database is reported by the claim of the key.
    const answer = await find()?.catch(() => undefined);
    if (answer) answered.resolve(answer);
  };
  const timer = setTimeout(look, planningPatience);
  try {
    return await Promise.race([planning, answered.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Claims the key, decides, and stores the plan: one statement if there is nothing to decide, otherwise one transaction. A plan
 * that has nothing for the EHR, such as the release of a draft, is performed and ended in the same transaction.
 */
async function store(
  services: OperationServices,
  request: WriteRequest,
  operation: Leased,
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
    sealedPlan: sealPlan(services.keys, operation, plan),
  };
  const storeUnclaimed = (to: Db | Tx) => storePlan(to, { ...operation, ...planned, leaseSeconds: seconds });
  let leasedAt = sinceBoot();
  // Not if an earlier attempt, which left nothing, may still reach the EHR late.
  const isFirst = !callsEhr || !operation.isMonitored;
  const work = (expiresAt: Date | null) =>
    leasedWork(services, operation, { ehr, careUnit, kind, plan, expiresAt, leasedAt, isFirst, hasCaller: true });
  beganOperation(operation.id);

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
    const problem = await decide?.(tx, operation.id);
    if (problem) return { state: 'ended', outcome: await decideAgainst(tx, work(null), problem) };
    if (callsEhr) return { state: 'stored', work: work(claim ? claim.expiresAt : await storeUnclaimed(tx)) };
    const ending = work(null);
    return { state: 'ended', outcome: await endWithRecords(tx, ending, await kind.perform(ending, plan)) };
  });
  if (begun.state === 'ended') noteRecorded(begun.outcome instanceof Problem ? begun.outcome.reason : 'success');
  return begun;
}

/**
 * Ends an operation in the transaction that decided on a problem: the problem is stored under the key, so that what it counted
 * is counted once for the key and only under the lease. A problem that is not stored under the key is thrown: it counts nothing.
 */
async function decideAgainst(tx: Tx, work: LeasedWork, problem: Problem): Promise<Problem> {
  const { services, operation, ehr } = work;
  if (!isStoredUnderKey(problem)) throw problem;
  const sealed = sealProblem(services.keys, operation, problem);
  const records = { drafts: draftsOf(work, problem.reason) };
  if (!sealed) await writeRecords(tx, records);
  else if (!operation.isMonitored) await storeResponse(tx, operation, sealed, records);
  else await monitor(tx, { ...operation, ...ehr.patience, sealedResponse: sealed, hadEffect: false }, records);
  return problem;
}

/**
 * Ends a request that failed before its plan was stored. A problem that will not change is stored under the key; after any
 * other failure a retry starts over. But an earlier request with the key may have succeeded: it decides.
 */
async function endUnstored(
  { db, keys, liveTokens }: OperationServices,
  { ehr }: WriteRequest,
  operation: Leased,
  key: Key | undefined,
  error: unknown,
): Promise<PlanStored> {
  if (operation.keyHash === null || error instanceof OperationEnded || error instanceof LeaseLost) throw error;
  const sealed = error instanceof Problem && isStoredUnderKey(error) ? sealProblem(keys, operation, error) : null;
  if (key) {
    return inTransaction<PlanStored>(db, async (tx, leasedAt) => {
      const claim = await claimKey(tx, { keys, liveTokens }, key, nothingPlanned, leaseSeconds(ehr));
      if (claim.state !== 'new') return { ...claim, leasedAt };
      if (!sealed) throw new NothingToStore();
      await storeResponse(tx, operation, sealed);
      return { state: 'answered', outcome: error as Problem };
    }).catch(async (failure) => {
      // It may have taken over the lease of an earlier request.
      if (mayHaveBeenSent(failure)) await releaseLeaseSoon(db, operation);
      throw failure instanceof NothingToStore ? error : failure;
    });
  }
  if (operation.isMonitored)
    await monitor(db, { ...operation, ...ehr.patience, sealedResponse: sealed, hadEffect: false });
  else if (sealed) await storeResponse(db, operation, sealed);
  else await releaseLease(db, operation);
  throw error;
}

/** Rolls the claim of a key back, so that a retry starts over. */
class NothingToStore extends Error {}

/** Finishes the operation of an earlier request with the key, or starts it over, unless nobody waits for it any longer. */
async function continueEarlier(
  services: OperationServices,
  request: WriteRequest,
  { operation, leasedAt }: Extract<Claim, { readonly state: 'interrupted' }>,
): Promise<OperationResponse> {
  const { requestId } = request;
  await request.begin().catch(async (error) => {
    await releaseLease(services.db, operation).catch(() => undefined);
    throw error;
  });
  const resumed = await resume(services, { ...operation, requestId }, leasedAt);
  return 'body' in resumed ? resumed : planAndPerform(services, request, { ...resumed.restart, requestId });
}
