import type { Static } from 'typebox';
import { inBody } from '../api/places.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import type { OperationResponse } from '../operations/operation-response.ts';
import { Problem } from '../problems/problem.ts';
import { cancelMany, confirmMany, noDryRun, updateMany } from './bulk.ts';
import type {
  AppointmentCancellationBody,
  AppointmentConfirmationBody,
  AppointmentUpdateBody,
  appointmentCreationSchema,
  BulkCancellationBody,
  BulkConfirmationBody,
  BulkUpdateBody,
} from './contract.ts';
import { planCancellation, prepareCancellations } from './plan-cancellation.ts';
import { isConfirmable, planConfirmation } from './plan-confirmation.ts';
import { planCreation } from './plan-creation.ts';
import { planUpdate, readUpdate, updated, updatePlaces } from './plan-update.ts';
import type { RequestContext } from './request-context.ts';
import { rescheduleMany } from './reschedule.ts';
import { readReturnUrl } from './return-url.ts';
import { requireTarget } from './targets.ts';
import { slotFault } from './time-rules.ts';
import { carryOut, carryOutConfirmed, type Writing } from './write-appointments.ts';

export async function create(
  context: RequestContext,
  writing: Writing,
  body: Static<typeof appointmentCreationSchema>,
  readHeader: ReadHeader,
): Promise<OperationResponse> {
  return carryOut(context, writing, await planCreation(context, body, readHeader, writing.dryRun));
}

type OneBody = AppointmentUpdateBody | AppointmentCancellationBody | AppointmentConfirmationBody;

export function changeOne(
  context: RequestContext,
  writing: Writing,
  id: string,
  body: OneBody,
  readHeader: ReadHeader,
): Promise<OperationResponse> {
  if ('confirmation' in body) return confirmOne(context, writing, id, body);
  return 'status' in body ? cancelOne(context, writing, id, body) : updateOne(context, writing, id, body, readHeader);
}

async function updateOne(
  context: RequestContext,
  writing: Writing,
  id: string,
  body: AppointmentUpdateBody,
  readHeader: ReadHeader,
): Promise<OperationResponse> {
  const target = await requireTarget(context, id);
  const requested = await readUpdate(context, body, readHeader);
  const place = requested.time ? updatePlaces.start : inBody('resource_id');
  const taken = slotFault(updated(target.appointment, requested), context.careUnit.timeZone, place);
  return carryOut(context, writing, planUpdate(target, requested, { taken }));
}

async function cancelOne(
  context: RequestContext,
  writing: Writing,
  id: string,
  body: AppointmentCancellationBody,
): Promise<OperationResponse> {
  const returnUrl = readReturnUrl(body.return_url, context.client);
  const target = await requireTarget(context, id);
  const comment = body.comment === undefined ? undefined : body.comment || null;
  const prepared = await prepareCancellations(context, [target], returnUrl);
  return carryOut(context, writing, await planCancellation(context, target, comment, prepared));
}

async function confirmOne(
  context: RequestContext,
  { execute, dryRun }: Writing,
  id: string,
  { confirmation: { code } }: AppointmentConfirmationBody,
): Promise<OperationResponse> {
  if (dryRun) throw noDryRun();
  return carryOutConfirmed(context, execute, code, async () => {
    const target = await requireTarget(context, id, 'all');
    if (!isConfirmable(context, target)) throw new Problem('confirmation_not_pending');
    return planConfirmation(context, [target]);
  });
}

type ManyBody = BulkUpdateBody | BulkCancellationBody | BulkConfirmationBody;

export function changeMany(
  context: RequestContext,
  writing: Writing,
  body: ManyBody,
  readHeader: ReadHeader,
): Promise<OperationResponse> {
  if ('confirmation' in body) return confirmMany(context, writing, body);
  if ('status' in body) return cancelMany(context, writing, body);
  const run = body.start === undefined ? updateMany : rescheduleMany;
  return run(context, writing, body, readHeader);
}
