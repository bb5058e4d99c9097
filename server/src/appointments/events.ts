import type { Appointment } from '@crossward/connector-kit';
import type { AppointmentEventData, NewEvent } from '../events/new-event.ts';
import type { Work } from '../operations/kind.ts';
import { formatInstant } from '../time/date-times.ts';
import { appointmentBody } from './representation.ts';

type Place = Pick<Work, 'services' | 'ehr' | 'careUnit'>;
export type AppointmentEventType = Extract<NewEvent['type'], `appointment.${string}`>;

interface Facts {
  readonly type: AppointmentEventType;
  /** The caller's id of the appointment. Of a two-step cancellation: of the original. */
  readonly id: string;
  readonly cancellationId?: string | undefined;
}

/** An event about an appointment. Leaves out the patient and the comment. */
export function appointmentEvent(
  { services, ehr, careUnit }: Place,
  appointment: Appointment,
  { type, id, cancellationId }: Facts,
  more: Pick<AppointmentEventData, 'changed' | 'previous'> = {},
): NewEvent {
  const { status, start, end, resource_id, healthcare_service_id } = appointmentBody(appointment, {
    services,
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
  return { type, emr: ehr.id, careUnitId: careUnit.id, subject: id, data };
}

/** What an update changed, and the former time and resource. `undefined`: nothing. */
export function updateFacts(
  { services, ehr, careUnit }: Place,
  before: Appointment,
  after: Appointment,
): Required<Pick<AppointmentEventData, 'changed' | 'previous'>> | undefined {
  const changed = [
    ...(before.start.getTime() === after.start.getTime() ? [] : (['start'] as const)),
    ...(before.end.getTime() === after.end.getTime() ? [] : (['end'] as const)),
    ...(before.resourceId === after.resourceId ? [] : (['resource_id'] as const)),
    ...(before.comment === after.comment ? [] : (['comment'] as const)),
  ];
  if (changed.length === 0) return undefined;
  const { resource_id } = appointmentBody(before, { services, ehr, careUnit });
  const zone = careUnit.timeZone;
  return {
    changed,
    previous: { start: formatInstant(before.start, zone), end: formatInstant(before.end, zone), resource_id },
  };
}
