import { type PlannedWrite, plannedWrite } from '../operations/kind.ts';
import { areFree } from './free-time.ts';
import type { RequestContext } from './request-context.ts';
import { timesTaken } from './time-rules.ts';
import { withOperationIds } from './write/changes.ts';
import { appointmentKind } from './write/kind.ts';
import type { AppointmentPlan } from './write/plan.ts';
import { reservationFor } from './write/reserve.ts';

/**
 * A plan as a write to the EHR, with what it reserves.
 *
 * @param code what the patient entered, for a confirmation
 */
export async function asWrite(context: RequestContext, plan: AppointmentPlan, code?: string): Promise<PlannedWrite> {
  await assertDraftsAreFree(context, plan);
  const requested = { ...context, clientId: context.client.id };
  return plannedWrite(appointmentKind, withOperationIds(context.ehr, plan), reservationFor(requested, plan, code));
}

/** A draft is not sent to the EHR yet, so the EHR cannot reject it. The gateway checks its time instead. */
async function assertDraftsAreFree({ ehr, careUnit }: RequestContext, { steps }: AppointmentPlan): Promise<void> {
  const drafts = steps.flatMap(({ awaits }) => awaits?.draft ?? []);
  if (!(await areFree(ehr, careUnit, drafts))) throw timesTaken(steps);
}
