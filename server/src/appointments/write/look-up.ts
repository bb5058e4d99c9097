import type { Appointment } from '@crossward/connector-kit';
import type { Found, Work } from '../../writes/write-kind.ts';
import { callsOf, changesOf, ehrChange, type Results, resultsOf } from './changes.ts';
import type { AppointmentPlan } from './plan.ts';
import { reconcile } from './reconcile.ts';

/**
 * Looks up in the EHR whether a plan was performed.
 *
 * @param unfinished how far it is in an EHR that does not find writes by id. `undefined`: that cannot be told
 */
export async function lookUpPlan(
  work: Work,
  plan: AppointmentPlan,
  unfinished: (plan: AppointmentPlan, done: Results) => 'nearly' | 'in part' | undefined = () => undefined,
): Promise<Found<Results>> {
  const found = await partsDone(work, plan);
  const isRuledOut = await settle(work, plan, found);
  // What has no room in the EHR was taken back.
  const done = found.size > 0 && isRuledOut !== undefined ? await partsDone(work, plan) : found;
  if (done.size === changesOf(plan).length) return { outcome: done };
  if (isRuledOut && done.size === 0) return 'nothing';
  if (!work.ehr.offers('findOperation')) return unfinished(plan, done) ?? 'not known';
  return done.size === 0 ? 'nothing' : 'in part';
}

/** The steps of a plan that the EHR has performed. */
export async function partsDone(work: Work, plan: AppointmentPlan): Promise<Results> {
  const { call, careUnit, ehr, expiresAt } = work;
  if (!ehr.offers('findOperation')) return reconcile(work, plan);
  const done = new Map<number, Appointment>();
  for (const { operationId, steps } of callsOf(work, plan)) {
    const changes = steps.map(({ change }) => ehrChange(change, expiresAt));
    const found = await call('findOperation', careUnit, operationId, changes);
    for (const { step, appointment } of found ? resultsOf(steps, found) : []) done.set(step.index, appointment);
  }
  return done;
}

/** Whether the EHR has made none of the other steps, and makes none of them late. `undefined`: it was not asked. */
async function settle(work: Work, plan: AppointmentPlan, done: Results): Promise<boolean | undefined> {
  const { call, careUnit, ehr, expiresAt, interruptedSince: since } = work;
  if (since === undefined || !ehr.offers('settleChanges')) return undefined;
  const changes = (isMade: boolean) =>
    changesOf(plan)
      .filter(({ index }) => done.has(index) === isMade)
      .map(({ change }) => ehrChange(change, expiresAt));
  return call('settleChanges', { careUnit, made: changes(true), notSeen: changes(false), since });
}
