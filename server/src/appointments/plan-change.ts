import { isComplete } from '@crossward/connector-kit';
import type { ReadHeader } from '../identifiers/index.ts';
import { inBody } from '../problems/places.ts';
import { Problem } from '../problems/problem.ts';
import { planBulkCancellation, planBulkConfirmation, planBulkUpdate } from './bulk.ts';
import type {
  AppointmentCancellationBody,
  AppointmentConfirmationBody,
  AppointmentUpdateBody,
  BulkCancellationBody,
  BulkConfirmationBody,
  BulkUpdateBody,
} from './contract.ts';
import { planCancellation, prepareCancellations } from './plan-cancellation.ts';
import { isConfirmable, planConfirmation } from './plan-confirmation.ts';
import { planUpdate, readUpdate, updated, updatePlaces } from './plan-update.ts';
import { assertRoom } from './rebooking/steps.ts';
import type { RequestContext } from './request-context.ts';
import { planRescheduling } from './reschedule.ts';
import { readReturnUrl } from './sent-details.ts';
import { requireTarget } from './targets.ts';
import type { AppointmentPlan } from './write/plan.ts';
import { slotFault } from './write/plan.ts';

/** Plans an update, a cancellation or a confirmation of one appointment. */
export async function planChange(
  context: RequestContext,
  id: string,
  body: AppointmentUpdateBody | AppointmentCancellationBody | AppointmentConfirmationBody,
  readHeader: ReadHeader,
): Promise<AppointmentPlan> {
  if ('status' in body) return planCancellationOfOne(context, id, body);
  if (!('confirmation' in body)) return planUpdateOfOne(context, id, body, readHeader);
  const target = await requireTarget(context, id, 'all');
  if (!isConfirmable(context, target)) throw new Problem('confirmation_not_pending');
  return planConfirmation(context, [target]);
}

async function planUpdateOfOne(
  context: RequestContext,
  id: string,
  body: AppointmentUpdateBody,
  readHeader: ReadHeader,
): Promise<AppointmentPlan> {
  const target = await requireTarget(context, id);
  const requested = await readUpdate(context, body, readHeader);
  const place = requested.time ? updatePlaces.start : inBody('resource_id');
  const after = updated(target.appointment, requested);
  const faultIfTaken = isComplete(after) ? slotFault(after, context.careUnit.timeZone, place) : undefined;
  return assertRoom(context, planUpdate(context, target, requested, { faultIfTaken }));
}

async function planCancellationOfOne(
  context: RequestContext,
  id: string,
  body: AppointmentCancellationBody,
): Promise<AppointmentPlan> {
  const returnUrl = readReturnUrl(body.return_url, context.client);
  const target = await requireTarget(context, id);
  const comment = body.comment === undefined ? undefined : body.comment || null;
  const prepared = await prepareCancellations(context, [target], returnUrl);
  return planCancellation(context, target, comment, prepared);
}

/** Plans a change of several appointments, all or nothing. */
export function planChanges(
  context: RequestContext,
  body: BulkUpdateBody | BulkCancellationBody | BulkConfirmationBody,
  readHeader: ReadHeader,
): Promise<AppointmentPlan> {
  if ('confirmation' in body) return planBulkConfirmation(context, body);
  if ('status' in body) return planBulkCancellation(context, body);
  return (body.start === undefined ? planBulkUpdate : planRescheduling)(context, body, readHeader);
}
