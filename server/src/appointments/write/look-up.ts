import type { Appointment } from '@crossward/connector-kit';
import type { Found, Work } from '../../operations/kind.ts';
import { type AppointmentPlan, changesOf, ehrChange, hasOneId, type Results, resultsOf } from './plan.ts';
import { reconcile } from './reconcile.ts';

/** Looks up in the EHR whether a plan was performed. */
export async function lookUpPlan(work: Work, plan: AppointmentPlan): Promise<Found<Results>> {
  const changes = changesOf(plan);
  const knows = work.ehr.offers('findOperation');
  const done = await partsDone(work, plan);
  if (done.size === changes.length) return { outcome: done };
  if (!knows) return 'not known';
  return done.size === 0 ? 'nothing' : 'in part';
}

/** The steps of a plan that the EHR has performed. */
export async function partsDone(work: Work, plan: AppointmentPlan): Promise<Results> {
  const { call, careUnit, ehr, ehrId, expiresAt } = work;
  if (!ehr.offers('findOperation')) return reconcile(work, plan);
  const changes = changesOf(plan);
  if (hasOneId(ehr, plan)) {
    const found = await call(
      'findOperation',
      careUnit,
      ehrId(),
      changes.map(({ change }) => ehrChange(change, expiresAt)),
    );
    return found ? resultsOf(changes, found) : new Map();
  }
  const parts = new Map<number, Appointment>();
  for (const { index, change } of changes) {
    const [appointment] = (await call('findOperation', careUnit, ehrId(index), [ehrChange(change, expiresAt)])) ?? [];
    if (appointment) parts.set(index, appointment);
  }
  return parts;
}
