import type { AppointmentUpdate, CompleteAppointment } from '@crossward/connector-kit';
import { areFree } from '../free-time.ts';
import type { KnownAppointment } from '../known-appointments.ts';
import type { RequestContext } from '../request-context.ts';
import type { Target } from '../targets.ts';
import { changesOf, isAtomic, withoutCollisions } from '../write/changes.ts';
import type { AppointmentPlan, Step } from '../write/plan.ts';
import { timesTaken } from '../write/plan.ts';

/**
 * The steps that move an appointment in an EHR that cannot: book it anew, then cancel the former one. Only the first is in the
 * response.
 */
export function rebookingSteps({ appointment, id }: Target, after: CompleteAppointment, more: Partial<Step>): Step[] {
  const { patientId, resourceId, healthcareServiceId, start, end, comment } = after;
  const place = { patientId, resourceId, healthcareServiceId, start, end, comment };
  return [
    {
      ...more,
      change: { kind: 'create', ...place, hold: false },
      response: { appointment: { ...after, id: '', supersedesId: id }, word: 'moved' },
      supersedes: appointment.id,
    },
    { change: { kind: 'cancel', appointmentId: appointment.id }, before: appointment },
  ];
}

/** The step that moves an appointment in an EHR that gives it a new id. */
export function moveStep(
  { appointment, id }: Target,
  requested: Omit<AppointmentUpdate, 'kind' | 'appointmentId'>,
  after: KnownAppointment,
  more: Partial<Step>,
): Step {
  return {
    ...more,
    change: { kind: 'update', appointmentId: appointment.id, ...requested },
    before: appointment,
    response: { appointment: { ...after, id: '', supersedesId: id }, word: 'moved' },
    supersedes: appointment.id,
  };
}

/**
 * The former appointment must go first if the new time overlaps it, and the EHR has no transactions. Then it is kept unless the
 * new time is free.
 *
 * @throws Problem `time_slot_unavailable`
 */
export async function assertRoom(
  { ehr, careUnit }: Pick<RequestContext, 'ehr' | 'careUnit'>,
  plan: AppointmentPlan,
): Promise<AppointmentPlan> {
  const changes = changesOf(plan);
  const books = changes.some(({ supersedes, change }) => supersedes !== undefined && change.kind === 'create');
  if (!books || isAtomic(ehr, changes)) return plan;
  const [first] = withoutCollisions(changes);
  if (first?.change.kind !== 'cancel') return plan;
  const wanted = changes.flatMap(({ change }) => (change.kind === 'create' ? [change] : []));
  if (!(await areFree(ehr, careUnit, wanted, [first.change.appointmentId]))) throw timesTaken(plan.steps);
  return plan;
}
