import { confirmationInProgress } from '../confirmations/decide-code.ts';
import type { Item } from '../confirmations/items.ts';
import { itemContext } from '../confirmations/store.ts';
import { Problem } from '../problems/problem.ts';
import { draftOf } from './drafts.ts';
import type { RequestContext } from './request-context.ts';
import type { Target } from './targets.ts';
import type { AppointmentPlan, PlannedChange, Step } from './write/plan.ts';

export type Confirmable = Target & { readonly item: Item };

/** Whether this client started a confirmation for the id. A client cannot confirm what others started. */
export function isConfirmable({ client }: Pick<RequestContext, 'client'>, target: Target): target is Confirmable {
  return target.item?.clientId === client.id;
}

/**
 * The plan to perform if the code is correct. All ids await the same code. Ids that are already confirmed are returned in
 * their current state.
 */
export function planConfirmation(context: RequestContext, targets: readonly Confirmable[]): AppointmentPlan {
  const [first] = targets;
  if (!first) throw new Problem('confirmation_not_pending');
  const { confirmationId } = first.item;
  return { steps: targets.map((target) => confirmingStep(context, target)), many: false, confirmationId };
}

function confirmingStep(context: RequestContext, target: Confirmable): Step {
  const { appointment, id, item } = target;
  const response = { appointment, id, replacesId: item.replacesId ?? undefined, word: 'updated' as const };
  // The EHR was read before the gateway's tables, and the appointment was booked in between.
  if (item.state === 'confirmed' && appointment.state === 'held') throw confirmationInProgress();
  if (item.state === 'confirmed') return { response, confirms: id };
  return { change: confirmingChange(context, target), before: appointment, response, confirms: id };
}

function confirmingChange(
  { services, ehr }: RequestContext,
  { kind, id, appointment, item }: Confirmable,
): PlannedChange {
  if (kind === 'draft') return draftOf(services.keys, ehr.id, item);
  if (kind === 'appointment') return { kind: 'confirm', appointmentId: appointment.id };
  const comment = item.sealedComment && services.keys.open('confirmation', item.sealedComment, itemContext(ehr.id, id));
  return { kind: 'cancel', appointmentId: appointment.id, comment: comment ? JSON.parse(comment) : undefined };
}
