import { Problem } from '../problems/problem.ts';
import { planCancellations, requireTargets } from './bulk.ts';
import { mergePlans } from './merge-plans.ts';
import type { RequestContext } from './request-context.ts';
import { targetState } from './target-rules.ts';
import type { AppointmentPlan } from './write/plan.ts';

/**
 * Plans to cancel bookings that await their code. Unlike a cancellation by the caller, it never cancels a booking that has been
 * confirmed meanwhile.
 *
 * @throws Problem `confirmation_not_pending`
 */
export async function planRelease(context: RequestContext, ids: readonly string[]): Promise<AppointmentPlan> {
  let plans: readonly AppointmentPlan[] = [];
  await requireTargets(context, ids, async (targets) => {
    const isAwaiting = targets.every((target) => targetState(target) === 'awaiting booking');
    if (!isAwaiting) throw new Problem('confirmation_not_pending');
    const planned = await planCancellations(context, targets, undefined);
    plans = planned.plans;
    return planned.faults;
  });
  return mergePlans(plans);
}
