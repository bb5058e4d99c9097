import type { Appointment } from '@crossward/connector-kit';
import { awaitedOf, findPendingCancellations, type Item, makeGatewayId } from '../confirmations/items.ts';
import { eachPatientOnce, type FindPatient } from '../ehr/lookups.ts';
import { Problem } from '../problems/problem.ts';
import { contactOf } from './contact.ts';
import type { RequestContext } from './request-context.ts';
import { targetState } from './target-rules.ts';
import type { Target } from './targets.ts';
import type { AppointmentPlan } from './write/plan.ts';

/** `undefined` keeps the current comment. */
type Comment = string | null | undefined;

/** Data that the cancellations of one request share. */
export interface Prepared {
  /** Cancellations that already await a code, by the EHR's id of the original. */
  readonly pending: ReadonlyMap<string, Item>;
  readonly findPatient: FindPatient;
  /** Where the page for the patient links back to. */
  readonly returnUrl: string | undefined;
}

export async function prepareCancellations(
  { services, ehr, careUnit }: RequestContext,
  targets: readonly Target[],
  returnUrl?: string,
): Promise<Prepared> {
  const findPatient = eachPatientOnce(ehr);
  if (careUnit.cancellationConfirmation === 'none') return { pending: new Map(), findPatient, returnUrl };
  const booked = targets.filter((target) =>
    ['booked', 'pending in the EHR', 'view of booked'].includes(targetState(target)),
  );
  const ids = booked.map((target) => target.appointment.id);
  const pending = await findPendingCancellations(services.db, ehr.id, careUnit.id, ids);
  return { pending, findPatient, returnUrl };
}

/**
 * Cancels, or starts a two-step cancellation. A booking that awaits its code is released without another code. A cancelled
 * appointment stays as it is.
 */
export async function planCancellation(
  context: RequestContext,
  target: Target,
  comment: Comment,
  prepared: Prepared,
): Promise<AppointmentPlan> {
  const { appointment } = target;
  switch (targetState(target)) {
    case 'cancelled':
      return asItIs(target);
    case 'awaiting cancellation':
      return asItIs(target, target.item);
    case 'awaiting booking':
      return releasePlan(target, comment);
    case 'pending in the EHR':
      // A hold of another gateway: this gateway does not know its code.
      if (appointment.state === 'held') throw new Problem('appointment_awaiting_confirmation');
      return cancelInEhr(context, target, comment, prepared);
    case 'view of booked':
    case 'booked':
      return cancelInEhr(context, target, comment, prepared);
  }
}

/** Directly, or in two steps if the care unit requires a code. */
async function cancelInEhr(
  context: RequestContext,
  target: Target,
  comment: Comment,
  prepared: Prepared,
): Promise<AppointmentPlan> {
  const { appointment, id, item } = target;
  if (appointment.hasStarted) throw new Problem('appointment_started');
  const originalId = target.kind === 'cancellation' ? (item?.replacesId ?? appointment.id) : id;
  if (context.careUnit.cancellationConfirmation === 'none')
    return directPlan(context, appointment, originalId, comment);
  const waiting = prepared.pending.get(appointment.id);
  if (waiting) return asItIs({ ...target, kind: 'cancellation', id: waiting.id, item: waiting }, waiting);
  return twoStepPlan(context, appointment, originalId, comment, prepared);
}

function asItIs({ kind, appointment, id, item }: Target, awaits?: Item): AppointmentPlan {
  const response = {
    appointment: item && !item.isPending ? { ...appointment, state: settled(appointment) } : appointment,
    id,
    replacesId: kind === 'cancellation' ? (item.replacesId ?? undefined) : undefined,
    awaiting: awaits && awaitedOf(awaits),
    word: 'kept' as const,
  };
  return { steps: [{ response }], many: false };
}

/** A hold with an expired code is shown as cancelled, even if the EHR still holds it. */
function settled({ state }: Appointment): Appointment['state'] {
  return state === 'held' ? 'cancelled' : state;
}

function releasePlan({ kind, appointment, id }: Target, comment: Comment): AppointmentPlan {
  const response = { appointment: cancelled(appointment, comment), id, word: 'cancelled' as const };
  if (kind === 'draft') return { steps: [{ response, releases: id }], many: false };
  const change = { kind: 'release', appointmentId: appointment.id, comment } as const;
  return { steps: [{ change, before: appointment, response, releases: id }], many: false };
}

function directPlan({ ehr }: RequestContext, appointment: Appointment, id: string, comment: Comment): AppointmentPlan {
  if (!ehr.capabilities.changes.includes('cancel')) throw new Problem('operation_unsupported');
  const change = { kind: 'cancel', appointmentId: appointment.id, comment } as const;
  const response = { appointment: cancelled(appointment, comment), id, word: 'cancelled' as const };
  return { steps: [{ change, before: appointment, response }], many: false };
}

async function twoStepPlan(
  { services, ehr, careUnit }: RequestContext,
  appointment: Appointment,
  replacesId: string,
  comment: Comment,
  { findPatient, returnUrl }: Prepared,
): Promise<AppointmentPlan> {
  if (!ehr.capabilities.changes.includes('cancel')) throw new Problem('operation_unsupported');
  const newId = makeGatewayId();
  const response = { appointment, id: newId, replacesId, word: 'cancelled' as const };
  const patient = await findPatient(appointment.patientId);
  if (!patient) throw new Problem('no_contact_channel');
  const contact = contactOf(patient, 'cancellation', careUnit, services.channels);
  const awaits = {
    kind: 'cancellation' as const,
    patientId: patient.id,
    ...contact,
    newId,
    replacesId,
    comment,
    returnUrl,
  };
  return { steps: [{ before: appointment, response, awaits }], many: false };
}

function cancelled(appointment: Appointment, comment: Comment): Appointment {
  return { ...appointment, state: 'cancelled', comment: comment === undefined ? appointment.comment : comment };
}
