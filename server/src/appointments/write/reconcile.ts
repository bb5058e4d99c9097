import type { Appointment } from '@crossward/connector-kit';
import { isPlannedElsewhere } from '../../unfinished-writes/other-plans.ts';
import type { Work } from '../../writes/write-kind.ts';
import { cancelledIfGone } from '../cancelled-if-gone.ts';
import { type ChangeStep, changesOf, type Results } from './changes.ts';
import { type AppointmentPlan, appointmentKindName, type PlannedChange, type PlannedCreation } from './plan.ts';

type ChangeOfExisting = Exclude<PlannedChange, PlannedCreation>;

/** More than can overlap one time for the same patient and resource. */
const mostOverlapping = 20;

/**
 * Reconciles a plan with an EHR without `findOperation`: returns the steps that were visibly performed. The others may or
 * may not have been performed. A new appointment, or one that a move has given a new id, counts as ours if it is the only one for
 * the patient, resource and time, and no other record or write of the gateway explains it.
 */
export async function reconcile(work: Work, plan: AppointmentPlan): Promise<Results> {
  const { call, careUnit, expiresAt } = work;
  const changes = changesOf(plan);
  const ids = changes.flatMap(({ change }) => (change.kind === 'create' ? [] : [change.appointmentId]));
  const found = ids.length > 0 ? await call('findAppointments', careUnit, ids) : [];
  const effects = new Map<number, Appointment>();
  for (const step of changes) {
    const { index, change, before } = step;
    if (change.kind === 'create') {
      const created = await findCreated(work, change);
      if (created) effects.set(index, created);
      continue;
    }
    const now = found.find(({ id }) => id === change.appointmentId) ?? cancelledIfGone(work, change, before);
    const moved = movedTo(step);
    const effect = moved ? now?.state === 'cancelled' && (await findCreated(work, moved)) : now;
    if (effect && (moved || isAsPlanned(effect, change, expiresAt))) effects.set(index, effect);
  }
  return effects;
}

/** What a move books that gives a new id. */
function movedTo({ change, before, supersedes }: ChangeStep): (Booking & { readonly hold: false }) | undefined {
  if (change.kind !== 'update' || !before || supersedes === undefined) return undefined;
  const { patientId, start, end } = before;
  return { patientId, start, end, ...change.time, resourceId: change.resourceId ?? before.resourceId, hold: false };
}

async function findCreated(
  work: Work,
  creation: Booking & Pick<PlannedCreation, 'hold'>,
): Promise<Appointment | undefined> {
  const { call, careUnit, ehr } = work;
  const { patientId, resourceId, start, end, hold } = creation;
  if (!ehr.offers('listAppointments') || resourceId === null || end === null) return undefined;
  const overlapping = await call('listAppointments', {
    careUnit,
    patientId,
    resourceId,
    range: { start, end },
    states: [hold ? 'held' : 'booked'],
    limit: mostOverlapping,
  });
  const [only, another] = overlapping.filter((it) => isSame(it, creation));
  if (!only || another || (await isAccountedFor(work, only))) return undefined;
  return only;
}

async function isAccountedFor(work: Work, appointment: Appointment): Promise<boolean> {
  const { services, ehr } = work;
  const items = await services.db
    .selectFrom('confirmation_items')
    .select('appointment_id')
    .where('emr', '=', ehr.id)
    .where('ehr_appointment_id', '=', appointment.id)
    .limit(1)
    .execute();
  if (items.length > 0) return true;
  return isPlannedElsewhere(work, appointmentKindName, (plan) =>
    changesOf(plan as AppointmentPlan).some((step) => {
      const booking = step.change.kind === 'create' ? step.change : movedTo(step);
      return booking !== undefined && isSame(appointment, booking);
    }),
  );
}

type Booking = Pick<Appointment, 'patientId' | 'resourceId' | 'start' | 'end'>;

function isSame(a: Booking, b: Booking): boolean {
  return a.patientId === b.patientId && a.resourceId === b.resourceId && isSameTime(a, b);
}

function isSameTime(a: Pick<Booking, 'start' | 'end'>, b: Pick<Booking, 'start' | 'end'>): boolean {
  return a.start.getTime() === b.start.getTime() && a.end?.getTime() === b.end?.getTime();
}

/** Whether the appointment is in the state that the change was to produce. */
function isAsPlanned(appointment: Appointment, change: ChangeOfExisting, expiresAt: Date | null): boolean {
  const { state, comment, heldUntil } = appointment;
  switch (change.kind) {
    case 'update':
      return (
        state === 'booked' &&
        (change.time === undefined || isSameTime(appointment, change.time)) &&
        (change.resourceId === undefined || appointment.resourceId === change.resourceId) &&
        (change.comment === undefined || isSameText(comment, change.comment))
      );
    case 'cancel':
    case 'release':
      return state === 'cancelled' && (change.comment === undefined || isSameText(comment, change.comment));
    case 'confirm':
      return state === 'booked';
    case 'extend':
      return state === 'held' && heldUntil?.getTime() === expiresAt?.getTime();
  }
}

/** Some EHRs keep no control characters and no spaces at the ends, and end lines in their own way. */
function isSameText(kept: string | null, sent: string | null): boolean {
  const plain = (text: string | null) => (text ?? '').replaceAll(/[\p{Cc}\s]+/gu, '');
  return plain(kept) === plain(sent);
}
