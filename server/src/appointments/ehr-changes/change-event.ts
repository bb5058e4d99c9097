import type { Appointment } from '@crossward/connector-kit';
import type { AppointmentView } from '../../db/tables/ehr-changes.ts';
import type { AppointmentEventData, NewEvent } from '../../events/new-event.ts';
import { type AppointmentEventType, appointmentEvent, updateFacts } from '../events.ts';
import { toldState } from './told-state.ts';

type Context = Parameters<typeof appointmentEvent>[0];

interface Change {
  /** The id that callers use. */
  readonly id: string;
  /** It was booked since the last reading, or has come from another care unit. */
  readonly isNew: boolean;
  /** What the events of the care unit say about it, the newest first. */
  readonly told: readonly AppointmentEventData[];
}

/**
 * The event of a change that was made directly in the EHR, for a care unit that shows the appointment. `undefined`: the events
 * say so already, or it needs none.
 */
export function changeEvent(
  context: Context,
  view: AppointmentView,
  { id, isNew, told }: Change,
): NewEvent | undefined {
  const now = appointmentOf(view);
  const before = toldState(told);
  const event = (type: AppointmentEventType, more?: ReturnType<typeof updateFacts>) => ({
    ...appointmentEvent(context, now, { type, id }, more),
    isObserved: true,
  });
  // A hold awaits its code. Only the gateway makes holds, and tells when they end.
  if (now.state === 'held') return undefined;
  if (now.state === 'cancelled') {
    // Nobody has heard of an appointment that was booked and cancelled since the last reading.
    const isKnown = before ? before.status !== 'cancelled' : !isNew;
    return isKnown ? event('appointment.cancelled') : undefined;
  }
  const [status, type] =
    now.state === 'booked'
      ? (['booked', 'appointment.booked'] as const)
      : (['awaiting_confirmation', 'appointment.awaiting_confirmation'] as const);
  if (!before) return event(isNew || status !== 'booked' ? type : 'appointment.updated');
  if (before.status !== status) return event(type);
  const { start = now.start, end = now.end, resourceId = now.resourceId } = before;
  const facts = updateFacts(context, { ...now, start, end, resourceId }, now);
  return facts && event('appointment.updated', facts);
}

/**
 * The event of an appointment that a care unit does not show any more, with what was told last: staff have moved it to another
 * care unit, or taken out its patient, its resource or its time. `undefined`: the events say so already.
 */
export function goneEvent({ ehr, careUnit }: Context, { id, told }: Omit<Change, 'isNew'>): NewEvent | undefined {
  const [newest] = told;
  if (!newest || newest.status === 'cancelled') return undefined;
  const { start, end, resource_id, healthcare_service_id } = told.find((it) => it.start !== null) ?? newest;
  const place = { start, end, resource_id, healthcare_service_id };
  const data = { appointment_id: id, cancellation_id: null, status: 'cancelled', ...place } as const;
  const type = 'appointment.cancelled';
  return { type, emr: ehr.id, careUnitId: careUnit.id, subject: id, data, isObserved: true };
}

/** An event needs neither the patient nor the comment. */
function appointmentOf(view: AppointmentView): Appointment {
  return {
    id: '',
    careUnitId: view.care_unit_id,
    state: view.state,
    heldUntil: null,
    start: new Date(view.start),
    end: new Date(view.end),
    resourceId: view.resource_id,
    healthcareServiceId: view.healthcare_service_id,
    patientId: '',
    comment: null,
  };
}
