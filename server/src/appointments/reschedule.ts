import type { CompleteAppointment } from '@crossward/connector-kit';
import { assertNotPast, type TimeRange } from '../api/request-times.ts';
import { findPatient } from '../ehr/lookups.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { type Fault, type Place, Problem } from '../problems/problem.ts';
import { assertNoFaults, planCancellations, requireTargets, updateFaultsOf } from './bulk.ts';
import type { BulkUpdateBody } from './contract.ts';
import { freeSlots } from './free-time.ts';
import { mergePlans } from './merge-plans.ts';
import { planCreations } from './plan-creation.ts';
import { planUpdate, type RequestedUpdate, readUpdate, updatePlaces } from './plan-update.ts';
import type { RequestContext } from './request-context.ts';
import { holdsInRange, planReschedule, type ReschedulePlan } from './reschedule-plan.ts';
import { readReturnUrl } from './sent-details.ts';
import { assertMovable } from './target-rules.ts';
import type { Target } from './targets.ts';
import type { AppointmentPlan } from './write/plan.ts';
import { longestRescheduleHours, slotFault } from './write/plan.ts';

/** A target about which the EHR says all that a move needs. */
type MovableTarget = Target & { readonly appointment: CompleteAppointment };

interface RequestedReschedule extends RequestedUpdate {
  readonly returnUrl: string | undefined;
}

/** Continuous reschedule: fits the appointments into the time slots of a range, and creates or cancels some as needed. */
export async function planRescheduling(
  context: RequestContext,
  body: BulkUpdateBody,
  readHeader: ReadHeader,
): Promise<AppointmentPlan> {
  const returnUrl = readReturnUrl(body.return_url, context.client);
  const { time, ...requested } = await readUpdate(context, body, readHeader, longestRescheduleHours);
  if (!time) throw new Error('A reschedule has a range');
  assertNotPast(time.start, updatePlaces.start);
  const found = await requireTargets(context, body.ids, reschedulingFaults);
  const targets = found.map((target) => ({ ...target, appointment: assertMovable(target.appointment) }));
  const [target] = targets;
  if (!target) throw new Error('A reschedule has ids');
  const like = { ...target.appointment, resourceId: requested.resourceId ?? target.appointment.resourceId };
  const layout = await planSlots(context, targets, like, time);
  return planSteps(context, targets, layout, { ...requested, returnUrl }, time, like);
}

/** A fault for each target that cannot be updated or differs from the first one. All are in the care unit of the path. */
function reschedulingFaults(targets: readonly Target[]): Fault[] {
  const notUpdatable = updateFaultsOf(targets, () => true);
  const key = ({ appointment: { patientId, resourceId, healthcareServiceId } }: Target) =>
    JSON.stringify([patientId, resourceId, healthcareServiceId]);
  const [first] = targets;
  const others = targets.filter((target) => first && key(target) !== key(first));
  const different = others.filter(({ id }) => !notUpdatable.some((fault) => fault.id === id));
  return [
    ...notUpdatable,
    ...different.map(({ id }) => ({
      id,
      reason: 'appointments_not_alike' as const,
      detail: 'Differs from the first id in patient, resource or healthcare service.',
    })),
  ];
}

async function planSlots(
  context: RequestContext,
  targets: readonly MovableTarget[],
  like: CompleteAppointment,
  range: TimeRange,
): Promise<ReschedulePlan> {
  const { ehr, careUnit } = context;
  const freeing = targets.map(({ appointment }) => appointment.id);
  const slots = await freeSlots(ehr, careUnit, { ...like, ...range }, freeing);
  const layout = planReschedule({
    appointments: targets.map(({ id, appointment }) => ({ ...appointment, id })),
    slots,
    range,
  });
  if (!('unavailable' in layout)) return layout;
  const { unavailable } = layout;
  const hole = unavailable.reason === 'hole' ? unavailable : range;
  const fault = slotFault({ ...hole, resourceId: like.resourceId }, careUnit.timeZone, updatePlaces.start);
  const detail =
    unavailable.reason === 'hole' ? fault.detail : `The range has more than ${unavailable.most} time slots.`;
  throw new Problem('time_slot_unavailable', { detail, faults: [{ ...fault, detail }] });
}

async function planSteps(
  context: RequestContext,
  targets: readonly MovableTarget[],
  layout: ReschedulePlan,
  requested: RequestedReschedule,
  range: TimeRange,
  like: CompleteAppointment,
): Promise<AppointmentPlan> {
  const byId = new Map(targets.map((target) => [target.id, target]));
  const targetOf = (id: string) => byId.get(id) as MovableTarget;
  const faultIfTaken = slotFault(
    { ...range, resourceId: like.resourceId },
    context.careUnit.timeZone,
    updatePlaces.start,
  );
  const placed = [...layout.kept, ...layout.moved].map(({ id, slot }) => ({
    slot,
    plan: planUpdate(
      context,
      targetOf(id),
      { ...requested, time: slot },
      { place: placeOf(targets, id), faultIfTaken },
    ),
  }));
  const extras = layout.cancelled.map(targetOf);
  assertExtrasLeaveRoom(context, extras, range, like.resourceId);
  const { plans: cancellations, faults } = await planCancellations(context, extras, undefined, requested.returnUrl);
  assertNoFaults(faults.map((fault) => ({ ...fault, place: placeOf(targets, fault.id) })));
  const created = await planMissing(context, layout.created, like, requested);
  const inOrder = [...placed, ...created].sort((a, b) => a.slot.start.getTime() - b.slot.start.getTime());
  const cancelled = cancellations.map((plan, index) => withPlace(plan, placeOf(targets, extras[index]?.id)));
  return withRangeTaken(mergePlans([...inOrder.map(({ plan }) => plan), ...cancelled]), faultIfTaken);
}

function withPlace(plan: AppointmentPlan, place: Place): AppointmentPlan {
  return { ...plan, steps: plan.steps.map((step) => ({ ...step, place })) };
}

/** If any time in the range is taken, the fault names the whole range, as in the request. */
function withRangeTaken(plan: AppointmentPlan, faultIfTaken: Fault): AppointmentPlan {
  return { ...plan, steps: plan.steps.map((step) => (step.faultIfTaken ? { ...step, faultIfTaken } : step)) };
}

function placeOf(targets: readonly Target[], id: string | undefined): Place {
  return { in: 'body', pointer: `/ids/${targets.findIndex((target) => target.id === id)}` };
}

/** An appointment to cancel keeps its time until its code is confirmed, so it must not be in the range. */
function assertExtrasLeaveRoom(
  { careUnit }: RequestContext,
  extras: readonly MovableTarget[],
  range: TimeRange,
  resourceId: string,
): void {
  if (careUnit.cancellationConfirmation === 'none') return;
  const onResource = extras.filter(({ appointment }) => appointment.resourceId === resourceId);
  const appointments = onResource.map(({ id, appointment }) => ({ ...appointment, id }));
  const inTheWay = holdsInRange(
    appointments,
    appointments.map(({ id }) => id),
    range,
  );
  assertNoFaults(
    appointments
      .filter(({ id }) => inTheWay.includes(id))
      .map((it) => ({ ...slotFault(it, careUnit.timeZone, updatePlaces.start, it.id) })),
  );
}

async function planMissing(
  context: RequestContext,
  slots: readonly TimeRange[],
  like: CompleteAppointment,
  { comment, returnUrl }: RequestedReschedule,
) {
  if (slots.length === 0) return [];
  const { ehr } = context;
  if (ehr.capabilities.patientDetails === 'required') {
    const detail = 'This EHR needs `patient_details` for new appointments. The range needs more than there are ids.';
    throw new Problem('operation_unsupported', { detail });
  }
  const patient = await findPatient(ehr, { type: 'emr_id', value: like.patientId });
  if (!patient) throw new Problem('patient_not_found', { status: 400 });
  const { resourceId, healthcareServiceId } = like;
  return slots.map((slot) => ({
    slot,
    plan: planCreations(
      context,
      patient,
      [
        {
          patientId: patient.id,
          resourceId,
          healthcareServiceId,
          start: slot.start,
          end: slot.end,
          comment: comment ?? null,
        },
      ],
      returnUrl,
    ),
  }));
}
