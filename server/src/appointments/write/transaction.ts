import type { EhrConnection } from '../../ehr/connection.ts';
import { type AppointmentPlan, changesOf } from './plan.ts';

/** Whether the EHR makes these changes in one transaction. If not, they are made in sequence, with compensation on failure. */
export function isAtomic(ehr: EhrConnection, changes: readonly unknown[]): boolean {
  const { transactions, changesPerTransaction = Number.POSITIVE_INFINITY } = ehr.capabilities;
  return changes.length <= (transactions ? changesPerTransaction : 1);
}

/** Decides whether all changes of a plan have one operation id in the EHR, or each has its own. Stored with the plan. */
export function withOperationIds(ehr: EhrConnection, plan: AppointmentPlan): AppointmentPlan {
  return { ...plan, hasOneId: isAtomic(ehr, changesOf(plan)) };
}

/** What was decided when the plan was stored. The EHR's capabilities may have changed since. */
export function hasOneId(ehr: EhrConnection, plan: AppointmentPlan): boolean {
  return plan.hasOneId ?? isAtomic(ehr, changesOf(plan));
}

/** Whether the EHR still makes as many changes in one transaction as when the plan was stored. */
export function canPerform(ehr: EhrConnection, plan: AppointmentPlan): boolean {
  return !hasOneId(ehr, plan) || isAtomic(ehr, changesOf(plan));
}
