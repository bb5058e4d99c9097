import { sql } from 'kysely';
import { setLeased } from '../db/write-lease.ts';
import { Problem } from '../problems/problem.ts';
import { PartiallyApplied, WriteEnded } from '../problems/write-errors.ts';
import { attemptAfter, endUnmade, leaveOpen, tellUnknown } from './end.ts';
import { finish, perform, refuse, undo } from './perform.ts';
import type { Leased, Stored } from './stored-write.ts';
import { type LeasedWork, leasedWork } from './work.ts';
import type { WriteResponse, WriteServices } from './write-kind.ts';
import { kindOf } from './write-kind.ts';

/** Nothing is left of the earlier attempt. The write starts over under this lease. */
type Restart = { readonly restart: Leased };

/** `later`: no effect found yet, but the EHR may still finish the write. */
export type Recovery = 'ended' | 'later';

/**
 * Finishes the write of an earlier request with the same key, or starts it over.
 *
 * @throws WriteEnded with `outcome_unknown` when the outcome cannot be determined now
 */
export async function resume(
  services: WriteServices,
  stored: Stored,
  leasedAt: number,
): Promise<WriteResponse | Restart> {
  if (stored.plan === undefined) return { restart: stored };
  let work: Interrupted;
  try {
    work = reopen(services, stored, { leasedAt, hasCaller: true });
  } catch (error) {
    return tellUnknown(services.db, stored, error);
  }
  try {
    const found = await goOn(work);
    if (found === 'later') throw new Problem('outcome_unknown');
    return found === 'nothing' ? await startOver(work) : found;
  } catch (error) {
    if (error instanceof WriteEnded) throw error;
    return error instanceof PartiallyApplied ? refuse(work, error) : leaveOpen(work, error);
  }
}

/**
 * Recovers a write without a caller.
 *
 * @throws WriteEnded when it ended with a problem; another error when the recovery must be tried again
 */
export async function recover(services: WriteServices, stored: Stored, leasedAt: number): Promise<Recovery> {
  const work = reopen(services, stored, { leasedAt, hasCaller: false });
  if (stored.state === 'done') return findLateEffects(work);
  const found = await goOn(work);
  if (found === 'later') return found;
  if (found === 'nothing') await endUnmade(work, 'not made');
  return 'ended';
}

/** Does what is to be done. Returns the response, or that nothing is left in the EHR. */
async function goOn(work: Interrupted): Promise<WriteResponse | 'nothing' | 'later'> {
  const next = await nextOf(work);
  if (next === 'too early') return 'later';
  if (typeof next === 'object') return finish(work, next.outcome);
  if (next === 'perform') {
    await setLeased(work.services.db, work.leased, { last_sent_at: sql<Date>`now()` });
    return perform(work);
  }
  if (next === 'compensate') await undo(work);
  return 'nothing';
}

/** A stored write that this process works on. */
interface Interrupted extends LeasedWork {
  readonly leased: Stored;
  /** Of holds or codes, which only a caller that waits can use. */
  readonly hasReservation: boolean;
}

/** @throws Error when its kind, EHR or care unit is no longer configured */
function reopen(
  services: WriteServices,
  leased: Stored,
  how: { readonly leasedAt: number; readonly hasCaller: boolean },
): Interrupted {
  const ehr = services.ehrs.get(leased.emr);
  const careUnit = ehr?.careUnits.get(leased.careUnitId);
  const kind = kindOf(services.kinds, leased.kind, leased.plan);
  if (!ehr || !careUnit || !kind) throw new Error('A stored write has a kind, EHR or care unit that is not configured');
  const { expiresAt, plan } = leased;
  const work = leasedWork(services, leased, { ehr, careUnit, kind, plan, expiresAt, isFirst: false, ...how });
  const interruptedSince = leased.state === 'done' ? undefined : (leased.firstSentAt ?? undefined);
  return { ...work, leased, interruptedSince, hasReservation: kind.reservation?.(work, plan) !== undefined };
}

/**
 * What is to be done with an interrupted write. `end`: the EHR shows nothing of it, and had time to perform it.
 *
 * - It is performed again only if the EHR finds writes by id, and so performs it at most once, and if somebody waits for it:
 *   its caller, or a retry with its key. Not after `outcome_unknown`: the caller may have looked, found nothing and asked again.
 * - Holds and codes that nobody can use are compensated: they have expired, or their caller is gone.
 *
 * @throws WriteEnded when an EHR that does not find writes by id has shown no effect for too long
 */
async function nextOf(
  work: Interrupted,
): Promise<'perform' | 'compensate' | 'end' | 'too early' | { outcome: unknown }> {
  const { kind, plan, ehr, hasCaller, hasReservation, leased } = work;
  const { state, isExpired, keyHash, reportedUnknown, secondsSinceFirstCall, secondsSinceLastCall } = leased;
  const { giveUpSeconds, settlingSeconds } = ehr.times;
  const findsById = kind.findsById(ehr);
  const isUseless = hasReservation && (isExpired || !hasCaller);
  if (state === 'compensating' || (hasCaller && isUseless && findsById)) return 'compensate';
  const canPerform = findsById && (kind.canPerform?.(ehr, plan) ?? true) && secondsSinceFirstCall <= giveUpSeconds;
  const isAwaited = hasCaller || (keyHash !== null && !reportedUnknown);
  const isUnfinished = state === 'pending' && canPerform && !isUseless;
  if (kind.isRepeatable || (isUnfinished && isAwaited)) return 'perform';

  const found = await kind.lookUp(work, plan);
  if (found === 'nothing') return secondsSinceLastCall < settlingSeconds ? 'too early' : 'end';
  if (found === 'not known') return giveUpIfOverdue(work);
  if (isUseless) return 'compensate';
  if (found === 'nearly' && state === 'pending' && secondsSinceFirstCall <= giveUpSeconds) return 'perform';
  if (typeof found === 'object') return found;
  // Without operation ids, the EHR may still be performing the rest.
  if (!findsById && secondsSinceLastCall < settlingSeconds) return 'too early';
  return isUnfinished ? 'perform' : 'compensate';
}

/** How long the gateway looks for effects of a write in an EHR that does not find writes by id. */
const lookingSeconds = 120;

/** Ends a write whose effect cannot be found. It is never performed again, and every retry gets the same problem. */
async function giveUpIfOverdue(work: Interrupted): Promise<'too early'> {
  const { services, leased } = work;
  if (leased.secondsSinceLastCall < lookingSeconds || work.isContested) return 'too early';
  const problem = new Problem('outcome_unknown', {
    detail: 'The gateway cannot find out whether the EHR made the change. It will not be made again.',
    retryable: false,
  });
  await endUnmade(work, 'given up', problem);
  services.writeMetrics.outcomeLost(leased);
  throw new WriteEnded(problem);
}

/**
 * After compensation the write starts over with new ids, because compensated ones must not be used again. Otherwise the ids
 * stay the same, so that the EHR recognises them even if it makes the write late. It does not if it has settled the write.
 */
async function startOver(work: Interrupted): Promise<Restart> {
  const { leased } = work;
  await endUnmade(work, 'starts over');
  const ehrState = work.ehrState('starts over');
  return { restart: { ...leased, attempt: attemptAfter(leased, ehrState), isMonitored: ehrState === 'late' } };
}

/** Looks for effects after the end. A late effect is adopted if no response contradicts it, otherwise compensated. */
async function findLateEffects(work: Interrupted): Promise<Recovery> {
  const { services, kind, plan, leased } = work;
  const found = await kind.lookUp(work, plan);
  // The look-up itself removes what the EHR made twice.
  if (leased.hadEffect || found === 'nothing' || found === 'not known') return 'later';
  const mayBeAdopted = !leased.hasResponse && !work.hasReservation;
  const isWanted = mayBeAdopted && (await (kind.isWanted?.(work, plan) ?? true));
  const isAdopted = typeof found === 'object' && isWanted;
  if (isAdopted) await finish(work, found.outcome);
  else {
    await undo(work);
    await endUnmade(work, 'not made');
  }
  services.writeMetrics.lateEffect(leased, isAdopted ? 'adopted' : 'undone');
  return 'ended';
}
