import { type PlannedWrite, plannedWrite } from '../operations/kind.ts';
import { areFree } from './free-time.ts';
import type { RequestContext } from './request-context.ts';
import { timesTaken } from './time-rules.ts';
import { hasOneId } from './write/changes.ts';
import { decisionFor } from './write/decision.ts';
import { appointmentKind } from './write/kind.ts';
import type { AppointmentPlan } from './write/plan.ts';

/**
 * A plan as a write to the EHR, with what it reserves.
 *
 * @param code what the patient entered, for a confirmation
 */
export async function asWrite(context: RequestContext, plan: AppointmentPlan, code?: string): Promise<PlannedWrite> {
  const { ehr, careUnit, client } = context;
  // A draft is not sent to the EHR yet, so the EHR cannot reject it. The gateway checks its time instead.
  const drafts = plan.steps.flatMap(({ awaits }) => awaits?.draft ?? []);
  if (!(await areFree(ehr, careUnit, drafts))) throw timesTaken(plan.steps);
  const decide = decisionFor({ ...context, clientId: client.id }, plan, code);
  return plannedWrite(appointmentKind, { ...plan, hasOneId: hasOneId(ehr, plan) }, decide);
}
