import type { Appointment } from '@crossward/connector-kit';
import type { AppointmentEventData, NewEvent } from '../events/new-event.ts';
import type { Work } from '../writes/write-kind.ts';
import type { AppointmentBody } from './contract.ts';
import { sealForLater } from './known-appointments.ts';
import { appointmentFacts } from './representation.ts';
import { asChanged, type Results } from './write/changes.ts';
import type { AppointmentPlan, Step } from './write/plan.ts';

type EventOrigin = Pick<Work, 'services' | 'ehr' | 'careUnit'>;
export type AppointmentEventType = Extract<NewEvent['type'], `appointment.${string}`>;

interface Facts {
  readonly type: AppointmentEventType;
  /** The caller's id of the appointment. Of a two-step cancellation: of the original. */
  readonly id: string;
  readonly cancellationId?: string | undefined;
}

/** An event about an appointment. Its data leaves out the patient and the comment. */
export function appointmentEvent(
  { services, ehr, careUnit }: EventOrigin,
  appointment: Appointment,
  { type, id, cancellationId }: Facts,
  more: Pick<
    AppointmentEventData,
    'changed' | 'previous' | 'attendance' | 'previous_attendance' | 'supersedes_id' | 'superseded_by_id'
  > = {},
): NewEvent {
  const { status, start, end, resource_id, healthcare_service_id } = appointmentFacts(appointment, {
    ehr,
    careUnit,
  });
  const data = {
    appointment_id: id,
    cancellation_id: cancellationId ?? null,
    status,
    start,
    end,
    resource_id,
    healthcare_service_id,
    ...more,
  };
  const sealedAppointment = sealForLater(services.keys, ehr.id, id, appointment);
  return { type, emr: ehr.id, careUnitId: careUnit.id, subject: id, data, sealedAppointment };
}

/** What an update changed, and the former time and resource. `undefined`: nothing. */
export function updateFacts(
  { ehr, careUnit }: EventOrigin,
  before: Appointment,
  after: Appointment,
): Required<Pick<AppointmentEventData, 'changed' | 'previous'>> | undefined {
  const changed = [
    ...(before.start.getTime() === after.start.getTime() ? [] : (['start'] as const)),
    ...(before.end?.getTime() === after.end?.getTime() ? [] : (['end'] as const)),
    ...(before.resourceId === after.resourceId ? [] : (['resource_id'] as const)),
    ...(before.comment === after.comment ? [] : (['comment'] as const)),
  ];
  if (changed.length === 0) return undefined;
  const { start, end, resource_id } = appointmentFacts(before, { ehr, careUnit });
  return { changed, previous: { start, end, resource_id } };
}

type BodyOfEvent = Pick<AppointmentBody, 'id' | 'replaces_id'>;

/**
 * The events of a plan that was performed, or of the steps of it that the EHR has performed.
 *
 * @param bodies the appointments of the response. Absent: the plan was rejected, and nothing awaits a code
 */
export function planEvents(
  work: Work,
  { steps }: AppointmentPlan,
  results: Results,
  bodies?: readonly BodyOfEvent[],
): NewEvent[] {
  const shown = bodies?.values();
  return steps.flatMap((step, index) => {
    const body = step.response && shown?.next().value;
    // A move that books anew has events of its own: the booking is not the only one.
    return step.supersedes === undefined ? stepEvents(work, { ...step, index }, results, body) : [];
  });
}

function stepEvents(
  work: Work,
  step: Step & { readonly index: number },
  results: Results,
  body: BodyOfEvent | undefined,
): NewEvent[] {
  const { change, before, response, awaits, releases } = step;
  const result = producedBy(work, step, results.get(step.index));
  if (change && !result) return [];
  const appointment = result ?? response?.appointment;
  if (!appointment || !response) return [];
  const id = body?.replaces_id ?? body?.id ?? response.replacesId ?? response.id ?? appointment.id;
  const cancellationId = body?.replaces_id ? body.id : undefined;
  const event = (type: AppointmentEventType, more?: ReturnType<typeof updateFacts>) =>
    appointmentEvent(work, appointment, { type, id, cancellationId }, more);
  if (awaits) {
    // Another request may have just started the same cancellation: then nothing new awaits a code.
    const isNew = body !== undefined && (awaits.newId === undefined || awaits.newId === body.id);
    return isNew ? [event('appointment.awaiting_confirmation')] : [];
  }
  switch (change?.kind) {
    case 'create':
    case 'confirm':
      return [event('appointment.booked')];
    case 'update': {
      const facts = before && updateFacts(work, before, appointment);
      return facts ? [event('appointment.updated', facts)] : [];
    }
    case 'cancel':
    case 'release':
      return [event('appointment.cancelled')];
    case 'extend':
      return [];
    default:
      return releases === undefined ? [] : [event('appointment.cancelled')];
  }
}

/**
 * The appointment as the step left it. After an interruption the EHR is asked later, and may return what others have made of
 * the appointment since. Their change gets its own event.
 */
function producedBy(
  { isFirst }: Work,
  step: Step & { readonly index: number },
  found: Appointment | undefined,
): Appointment | undefined {
  const { change, before } = step;
  if (isFirst || !change || !found) return found;
  switch (change.kind) {
    case 'confirm':
      return { ...(before ?? found), state: 'booked' };
    case 'cancel':
    case 'release':
      return { ...(before ?? found), state: 'cancelled' };
    default:
      return asChanged({ ...step, change }, found);
  }
}
