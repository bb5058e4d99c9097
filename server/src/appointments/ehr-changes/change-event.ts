import type { Appointment } from '@crossward/connector-kit';
import type { AppointmentView } from '../../db/tables/ehr-changes.ts';
import type { AppointmentEventData, NewEvent } from '../../events/new-event.ts';
import { type AppointmentEventType, appointmentEvent, updateFacts } from '../events.ts';
import { type ToldState, toldState } from './told-state.ts';

type Context = Parameters<typeof appointmentEvent>[0];
type EventFacts = Parameters<typeof appointmentEvent>[3];

interface Change {
  /** The id that callers use. */
  readonly id: string;
  /** It was booked since the last reading, or has come from another care unit. */
  readonly isNew: boolean;
  /** What the events of the care unit say about it, the newest first. */
  readonly told: readonly AppointmentEventData[];
}

/**
 * The events of a change that was made directly in the EHR, for a care unit that shows the appointment, in order. None: the
 * events say so already, or it needs none.
 */
export function changeEvents(context: Context, view: AppointmentView, change: Change): readonly NewEvent[] {
  // A hold awaits its code. Only the gateway makes holds, and tells when they end.
  if (view.state === 'held') return [];
  const before = toldState(change.told);
  // Nobody has heard of an appointment that was booked and cancelled since the last reading.
  if (view.state === 'cancelled' && (before ? before.status === 'cancelled' : change.isNew)) return [];
  const events = [stateEvent(context, view, change, before), attendanceEvent(context, view, change, before)];
  // `appointment.cancelled` is the last event of an appointment.
  return (view.state === 'cancelled' ? events.reverse() : events).flatMap((it) => it ?? []);
}

type Before = ToldState | undefined;

function stateEvent(context: Context, view: AppointmentView, change: Change, before: Before): NewEvent | undefined {
  const now = appointmentOf(view);
  const event = (type: AppointmentEventType, more?: EventFacts) =>
    observed(context, now, { type, id: change.id }, more);
  if (now.state === 'cancelled') return event('appointment.cancelled');
  const [status, type] =
    now.state === 'booked'
      ? (['booked', 'appointment.booked'] as const)
      : (['awaiting_confirmation', 'appointment.awaiting_confirmation'] as const);
  if (!before) return event(change.isNew || status !== 'booked' ? type : 'appointment.updated');
  if (before.status !== status) return event(type);
  const { start = now.start, end = now.end, resourceId = now.resourceId } = before;
  const facts = updateFacts(context, { ...now, start, end, resourceId }, now);
  return facts && event('appointment.updated', facts);
}

/** The gateway never changes the attendance, and no event of its own writes has it: whatever differs was noted by others. */
function attendanceEvent(
  context: Context,
  view: AppointmentView,
  { id }: Change,
  before: Before,
): NewEvent | undefined {
  const { attendance } = view;
  if (attendance === undefined || attendance === (before?.attendance ?? null)) return undefined;
  // The cancellation says that the patient, who had arrived, is not expected any more.
  if (view.state === 'cancelled' && attendance === null) return undefined;
  const type = 'appointment.attendance_changed';
  const previous = before && { previous_attendance: before.attendance };
  return observed(context, appointmentOf(view), { type, id }, { attendance, ...previous });
}

function observed(...[context, now, facts, more]: Parameters<typeof appointmentEvent>): NewEvent {
  return { ...appointmentEvent(context, now, facts, more), isObserved: true };
}

/**
 * The event of an appointment that a care unit does not show any more, with what was told last: staff have moved it to another
 * care unit, or taken out its patient, its resource or its time. None: the events say so already.
 */
export function goneEvents({ ehr, careUnit }: Context, { id, told }: Omit<Change, 'isNew'>): readonly NewEvent[] {
  const [newest] = told;
  if (!newest || newest.status === 'cancelled') return [];
  const { start, end, resource_id, healthcare_service_id } = told.find((it) => it.start !== null) ?? newest;
  const place = { start, end, resource_id, healthcare_service_id };
  const data = { appointment_id: id, cancellation_id: null, status: 'cancelled', ...place } as const;
  const type = 'appointment.cancelled';
  return [{ type, emr: ehr.id, careUnitId: careUnit.id, subject: id, data, isObserved: true }];
}

/** An event needs neither the patient nor the comment. */
function appointmentOf(view: AppointmentView): Appointment {
  return {
    id: '',
    careUnitId: view.care_unit_id,
    state: view.state,
    heldUntil: null,
    start: new Date(view.start),
    end: view.end === null ? null : new Date(view.end),
    resourceId: view.resource_id,
    healthcareServiceId: view.healthcare_service_id,
    patientId: '',
    comment: null,
  };
}
