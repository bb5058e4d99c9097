import { Problem } from '../problems/problem.ts';
import { severalCodes } from './plan-creation.ts';
import type { AppointmentPlan } from './write/plan.ts';
import type { Plan } from './write-appointments.ts';

/**
 * Merges plans into one that is performed all or nothing, with one code for each patient. Entries of the response keep the
 * order of the plans.
 */
export function mergePlans(plans: readonly Plan[]): Plan {
  const viaEhr = plans.find((plan) => 'ehrCode' in plan);
  if (viaEhr && plans.length > 1) throw new Problem('operation_unsupported', { detail: severalCodes });
  if (viaEhr) return { ...viaEhr, many: true };
  return { steps: plans.flatMap((plan) => (plan as AppointmentPlan).steps), many: true };
}
