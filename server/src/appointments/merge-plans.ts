import type { AppointmentPlan } from './write/plan.ts';

/**
 * Merges plans into one that is performed all or nothing, with one code for each patient. Entries of the response keep the
 * order of the plans.
 */
export function mergePlans(plans: readonly AppointmentPlan[]): AppointmentPlan {
  return { steps: plans.flatMap(({ steps }) => steps), many: true };
}
