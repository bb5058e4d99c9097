import { type PlannedWrite, plannedWrite, type WriteKind } from '../writes/write-kind.ts';
import { areFree } from './free-time.ts';
import { identifiedKind } from './identified/kind.ts';
import { rebookingKind } from './rebooking/kind.ts';
import type { RequestContext } from './request-context.ts';
import { resendKind } from './resend/kind.ts';
import { hasOneId, type Results } from './write/changes.ts';
import { decisionFor } from './write/decision.ts';
import { appointmentKind } from './write/kind.ts';
import type { AppointmentPlan } from './write/plan.ts';
import { timesTaken } from './write/plan.ts';

/**
 * A plan as a write to the EHR: with its kind, and what the transaction that stores it decides.
 *
 * @param code what the patient entered, for a confirmation
 */
export async function asWrite(context: RequestContext, plan: AppointmentPlan, code?: string): Promise<PlannedWrite> {
  const { ehr, careUnit, client } = context;
  // A draft is not sent to the EHR yet, so the EHR cannot reject it. The gateway checks its time instead.
  const drafts = plan.steps.flatMap(({ awaits }) => awaits?.draft ?? []);
  if (drafts.length > 0 && !(await areFree(ehr, careUnit, drafts))) throw timesTaken(plan.steps);
  const decide = decisionFor({ ...context, clientId: client.id }, plan, code);
  return plannedWrite(kindOfPlan(plan), { ...plan, hasOneId: hasOneId(ehr, plan) }, decide);
}

/** The kind of a plan. All kinds of writes to appointments are stored under one name. */
export function kindOfPlan(plan: AppointmentPlan): WriteKind<AppointmentPlan, Results> {
  if ('resend' in plan) return resendKind as WriteKind<AppointmentPlan, Results>;
  if ('identifiers' in plan) return identifiedKind as WriteKind<AppointmentPlan, Results>;
  return plan.steps.some(({ supersedes }) => supersedes !== undefined) ? rebookingKind : appointmentKind;
}
