import { isComplete } from '@crossward/connector-kit';
import type { ReadHeader } from '../identifiers/index.ts';
import { type Fault, Problem } from '../problems/problem.ts';
import { type Reason, reasons } from '../problems/reasons.ts';
import { planSameTimes } from './bulk-slot-plan.ts';
import type { BulkCancellationBody, BulkConfirmationBody, BulkUpdateBody } from './contract.ts';
import { freeSlotsFor } from './free-time.ts';
import { mergePlans } from './merge-plans.ts';
import { planCancellation, prepareCancellations } from './plan-cancellation.ts';
import { isConfirmable, planConfirmation } from './plan-confirmation.ts';
import { planUpdate, type RequestedUpdate, readUpdate } from './plan-update.ts';
import type { RequestContext } from './request-context.ts';
import { readReturnUrl } from './sent-details.ts';
import { targetState, updateReasons, whyUnmovable } from './target-rules.ts';
import { findTargets, type Target } from './targets.ts';
import type { AppointmentPlan } from './write/plan.ts';
import { slotFault } from './write/plan.ts';

/** Updates many appointments, each at its current time. All or nothing. */
export async function planBulkUpdate(
  context: RequestContext,
  body: BulkUpdateBody,
  readHeader: ReadHeader,
): Promise<AppointmentPlan> {
  const requested = await readUpdate(context, body, readHeader);
  const { resourceId } = requested;
  const targets = await requireTargets(context, body.ids, async (found) => [
    ...updateFaultsOf(found, ({ appointment }) => (resourceId ?? appointment.resourceId) !== appointment.resourceId),
    ...(resourceId === undefined ? [] : await unavailableTimes(context, found, resourceId)),
  ]);
  const plans = targets.map((target, index) =>
    planUpdate(context, target, requested, {
      place: place(index),
      faultIfTaken: movingFault(context, target, index, requested),
    }),
  );
  return mergePlans(plans);
}

/** Cancels many appointments, all or nothing. Each patient gets one code if codes are required. */
export async function planBulkCancellation(
  context: RequestContext,
  body: BulkCancellationBody,
): Promise<AppointmentPlan> {
  const comment = body.comment === undefined ? undefined : body.comment || null;
  const returnUrl = readReturnUrl(body.return_url, context.client);
  let plans: readonly AppointmentPlan[] = [];
  await requireTargets(context, body.ids, async (targets) => {
    const planned = await planCancellations(context, targets, comment, returnUrl);
    plans = planned.plans;
    return planned.faults;
  });
  return mergePlans(withoutDoubles(plans.map(atPlace)));
}

function atPlace(plan: AppointmentPlan, index: number): AppointmentPlan {
  return { ...plan, steps: plan.steps.map((step) => ({ ...step, place: place(index) })) };
}

/** A plan for each target that can be cancelled, and a fault for each other one. */
export async function planCancellations(
  context: RequestContext,
  targets: readonly Target[],
  comment: string | null | undefined,
  returnUrl?: string,
): Promise<{ readonly plans: readonly AppointmentPlan[]; readonly faults: readonly Fault[] }> {
  const prepared = await prepareCancellations(context, targets, returnUrl);
  const faults: Fault[] = [];
  const plans: AppointmentPlan[] = [];
  for (const target of targets) {
    try {
      plans.push(await planCancellation(context, target, comment, prepared));
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      faults.push({ id: target.id, reason: error.reason, detail: error.detail });
    }
  }
  return { plans, faults };
}

/**
 * If the request names both an original and its two-step cancellation, the second plan returns the first one's
 * response.
 */
function withoutDoubles(plans: readonly AppointmentPlan[]): AppointmentPlan[] {
  const started = new Map<string, AppointmentPlan>();
  return plans.map((plan) => {
    const [step] = plan.steps;
    if (!step?.awaits || !step.before) return plan;
    const first = started.get(step.before.id)?.steps[0];
    if (!first) {
      started.set(step.before.id, plan);
      return plan;
    }
    const { awaits: _, ...rest } = first;
    return { ...plan, steps: [{ ...rest, ...(step.place ? { place: step.place } : {}) }] };
  });
}

/** Confirms many appointments that await the same code. */
export async function planBulkConfirmation(
  context: RequestContext,
  { ids }: BulkConfirmationBody,
): Promise<AppointmentPlan> {
  const isOwn = (target: Target) => isConfirmable(context, target);
  const faultsOf = (found: readonly Target[]) => {
    const first = found.find(isOwn);
    return found.flatMap((target) => {
      if (!isOwn(target)) return [faultOf(target.id, 'confirmation_not_pending')];
      const isOther = target.item?.confirmationId !== first?.item?.confirmationId;
      return isOther ? [faultOf(target.id, 'confirmations_differ')] : [];
    });
  };
  const targets = await requireTargets(context, ids, faultsOf, 'all');
  const waiting = targets.filter((target) => isConfirmable(context, target));
  return { ...atPlaces(planConfirmation(context, waiting)), many: true };
}

function atPlaces(plan: AppointmentPlan): AppointmentPlan {
  return { ...plan, steps: plan.steps.map((step, index) => ({ ...step, place: place(index) })) };
}

/**
 * The targets of a bulk request.
 *
 * @throws Problem with a fault for every id that does not exist in the care unit or that `faultsOf` returns, in the order
 *   of the request
 */
export async function requireTargets(
  context: RequestContext,
  ids: readonly string[],
  faultsOf: (found: readonly Target[]) => readonly Fault[] | Promise<readonly Fault[]>,
  codes?: 'all',
): Promise<readonly Target[]> {
  const known = await findTargets(context, ids, codes);
  const targets = ids.flatMap((id) => known.get(id) ?? []);
  const faults = await faultsOf(targets);
  assertNoFaults(
    ids.flatMap((id, index) => {
      const here = known.has(id) ? faults.filter((fault) => fault.id === id) : [notFound];
      return here.map((fault) => ({ ...fault, place: place(index) }));
    }),
  );
  return targets;
}

/** A fault for each target that cannot be updated. */
export function updateFaultsOf(targets: readonly Target[], moves: (target: Target) => boolean): Fault[] {
  return targets.flatMap((target) => {
    const { id, appointment } = target;
    const reason = updateReasons[targetState(target)];
    if (reason) return [faultOf(id, reason)];
    const detail = moves(target) ? whyUnmovable(appointment) : undefined;
    return detail === undefined ? [] : [{ id, reason: 'change_not_allowed' as const, detail }];
  });
}

/**
 * Throws a problem that lists all faults. Its reason is `time_slot_unavailable` if any fault has it, otherwise that of the
 * first fault.
 */
export function assertNoFaults(faults: readonly Fault[]): void {
  const decisive = faults.find(({ reason }) => reason === 'time_slot_unavailable') ?? faults[0];
  if (!decisive) return;
  const { reason, detail } = decisive;
  const { status } = reasons[reason];
  throw new Problem(reason, { detail, faults, status: status === 404 ? 400 : status });
}

async function unavailableTimes(
  context: RequestContext,
  targets: readonly Target[],
  resourceId: string,
): Promise<Fault[]> {
  const { ehr, careUnit } = context;
  const movable = targets.flatMap((target) => {
    const { id, appointment } = target;
    return updateReasons[targetState(target)] === undefined && isComplete(appointment) ? [{ id, appointment }] : [];
  });
  const freeing = movable.map(({ appointment }) => appointment.id);
  const moving = movable.filter(({ appointment }) => appointment.resourceId !== resourceId);
  const requested = moving.map(({ appointment }) => ({ ...appointment, resourceId }));
  const slots = await freeSlotsFor(ehr, careUnit, requested, freeing);
  const { faults } = planSameTimes({
    appointments: movable.map(({ id, appointment }) => ({
      id,
      start: appointment.start,
      end: appointment.end,
      healthcareServiceId: appointment.healthcareServiceId,
      standsOnTarget: appointment.resourceId === resourceId,
    })),
    slots,
  });
  return movable.flatMap(({ id, appointment }) =>
    faults.includes(id) ? [slotFault({ ...appointment, resourceId }, careUnit.timeZone, undefined, id)] : [],
  );
}

/** The fault to report if the EHR finds the time taken. The EHR does not say which id it belongs to. */
function movingFault(
  { careUnit }: RequestContext,
  { id, appointment }: Target,
  index: number,
  { resourceId }: RequestedUpdate,
): Fault | undefined {
  if (resourceId === undefined || appointment.resourceId === resourceId || !isComplete(appointment)) return undefined;
  return slotFault({ ...appointment, resourceId }, careUnit.timeZone, place(index), id);
}

/** Without the id: an unknown id could be a national number. */
const notFound: Fault = { reason: 'appointment_not_found', detail: reasons.appointment_not_found.happened };

function faultOf(id: string, reason: Reason): Fault {
  return { id, reason, detail: reasons[reason].happened };
}

function place(index: number) {
  return { in: 'body', pointer: `/ids/${index}` } as const;
}
