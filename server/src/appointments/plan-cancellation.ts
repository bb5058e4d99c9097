import type { Appointment } from '@crossward/connector-kit';
import { awaitedOf, findPendingCancellations, type Item } from '../confirmations/items.ts';
import { eachPatientOnce, type FindPatient } from '../ehr/lookups.ts';
import { Problem } from '../problems/problem.ts';
import { contactOf } from './contact.ts';
import type { EhrCodePlan } from './ehr-codes/plan.ts';
import { makeGatewayId } from './gateway-ids.ts';
import type { RequestContext } from './request-context.ts';
import { standingOf } from './target-rules.ts';
import type { Target } from './targets.ts';
import type { AppointmentPlan } from './write/plan.ts';

/** `undefined` leaves the appointment's comment. */
type Comment = string | null | undefined;

/** What the cancellations of one request have in common. */
export interface Prepared {
  /** The cancellations that wait for a code already, by the EHR's ids of their originals. */
  readonly pending: ReadonlyMap<string, Item>;
  readonly findPatient: FindPatient;
}

export async function prepareCancellations(
  { services, ehr, careUnit }: RequestContext,
  targets: readonly Target[],
): Promise<Prepared> {
  const findPatient = eachPatientOnce(ehr);
  if (careUnit.cancellationConfirmation === 'none') return { pending: new Map(), findPatient };
  const booked = targets.filter((target) =>
    ['booked', 'pending in the EHR', 'view of booked'].includes(standingOf(target)),
  );
  const ids = booked.map((target) => target.appointment.id);
  return { pending: await findPendingCancellations(services.db, ehr.id, careUnit.id, ids), findPatient };
}

/**
 * Cancels, or starts a cancellation that waits for a code. What waits for a booking code needs none: it is released.
 * What is cancelled stays as it is.
 */
export async function planCancellation(
  context: RequestContext,
  target: Target,
  comment: Comment,
  prepared: Prepared,
): Promise<AppointmentPlan | EhrCodePlan> {
  const { appointment } = target;
  switch (standingOf(target)) {
    case 'cancelled':
      return asItIs(target);
    case 'awaiting cancellation':
      return asItIs(target, target.item);
    case 'awaiting booking':
      return releasePlan(target, comment);
    case 'pending in the EHR':
      // A hold of another gateway: its code is not known here.
      if (appointment.state === 'held') throw new Problem('appointment_awaiting_confirmation');
      return cancelInEhr(context, target, comment, prepared);
    case 'view of booked':
    case 'booked':
      return cancelInEhr(context, target, comment, prepared);
  }
}

/** At once, or in two steps where the care unit asks for a code. */
async function cancelInEhr(
  context: RequestContext,
  target: Target,
  comment: Comment,
  prepared: Prepared,
): Promise<AppointmentPlan | EhrCodePlan> {
  const { appointment, id, item } = target;
  if (appointment.hasStarted) throw new Problem('appointment_started');
  const originalId = target.kind === 'cancellation' ? (item?.replacesId ?? appointment.id) : id;
  if (context.careUnit.cancellationConfirmation === 'none')
    return directPlan(context, appointment, originalId, comment);
  const waiting = prepared.pending.get(appointment.id);
  if (waiting) return asItIs({ ...target, kind: 'cancellation', id: waiting.id, item: waiting }, waiting);
  return twoStepPlan(context, appointment, originalId, comment, prepared.findPatient);
}

function asItIs({ kind, appointment, id, item }: Target, awaits?: Item): AppointmentPlan {
  const answer = {
    appointment: item && !item.isPending ? { ...appointment, state: settled(appointment) } : appointment,
    id,
    replacesId: kind === 'cancellation' ? (item.replacesId ?? undefined) : undefined,
    awaiting: awaits && awaitedOf(awaits),
    word: 'kept' as const,
  };
  return { steps: [{ answer }], many: false };
}

/** A hold whose code has run out is cancelled, whatever the EHR's clock says. */
function settled({ state }: Appointment): Appointment['state'] {
  return state === 'held' ? 'cancelled' : state;
}

function releasePlan({ kind, appointment, id }: Target, comment: Comment): AppointmentPlan {
  const answer = { appointment: cancelled(appointment, comment), id, word: 'cancelled' as const };
  if (kind === 'draft') return { steps: [{ answer, releases: id }], many: false };
  const change = { kind: 'release', appointmentId: appointment.id, comment } as const;
  return { steps: [{ change, before: appointment, answer, releases: id }], many: false };
}

function directPlan({ ehr }: RequestContext, appointment: Appointment, id: string, comment: Comment): AppointmentPlan {
  if (!ehr.capabilities.changes.includes('cancel')) throw new Problem('operation_unsupported');
  const change = { kind: 'cancel', appointmentId: appointment.id, comment } as const;
  const answer = { appointment: cancelled(appointment, comment), id, word: 'cancelled' as const };
  return { steps: [{ change, before: appointment, answer }], many: false };
}

async function twoStepPlan(
  { services, ehr, careUnit }: RequestContext,
  appointment: Appointment,
  replacesId: string,
  comment: Comment,
  findPatient: FindPatient,
): Promise<AppointmentPlan | EhrCodePlan> {
  if (!ehr.capabilities.changes.includes('cancel')) throw new Problem('operation_unsupported');
  const newId = makeGatewayId();
  const answer = { appointment, id: newId, replacesId, word: 'cancelled' as const };
  if (ehr.capabilities.sendsCodes) {
    const cancellation = { kind: 'cancel', appointmentId: appointment.id, comment } as const;
    const ehrCode = { kind: 'request cancellation', cancellation, newId, replacesId } as const;
    return { ehrCode, patientId: appointment.patientId, answer, many: false };
  }
  const patient = await findPatient(appointment.patientId);
  if (!patient) throw new Problem('no_contact_channel');
  const contact = contactOf(patient, 'cancellation', careUnit, services.channels);
  const awaits = { kind: 'cancellation' as const, patientId: patient.id, ...contact, newId, replacesId, comment };
  return { steps: [{ before: appointment, answer, awaits }], many: false };
}

function cancelled(appointment: Appointment, comment: Comment): Appointment {
  return { ...appointment, state: 'cancelled', comment: comment === undefined ? appointment.comment : comment };
}
