import type { Attendance } from '@crossward/connector-kit';
import type { AppointmentEventData } from '../../events/new-event.ts';

/** What the events of an appointment say about it. */
export interface ToldState {
  readonly status: AppointmentEventData['status'];
  /** `undefined`: no event says it. */
  readonly start: Date | undefined;
  /** `null`, here and below: the EHR did not say it. */
  readonly end: Date | null | undefined;
  readonly resourceId: string | null | undefined;
  readonly healthcareServiceId: string | null | undefined;
  readonly attendance: Attendance | null;
}

const resourcePrefix = 'emr_id:';

/**
 * The state of an appointment after its events.
 *
 * @param events the newest first. An event without times, such as that of an expired code, leaves them as they were
 */
export function toldState(
  events: readonly Pick<
    AppointmentEventData,
    'status' | 'start' | 'end' | 'resource_id' | 'healthcare_service_id' | 'attendance'
  >[],
): ToldState | undefined {
  const [newest] = events;
  if (!newest) return undefined;
  const placed = events.find(({ start }) => start !== null);
  return {
    status: newest.status,
    start: timeOf(placed?.start) ?? undefined,
    end: placed && timeOf(placed.end),
    resourceId: placed && (placed.resource_id?.slice(resourcePrefix.length) ?? null),
    healthcareServiceId: placed?.healthcare_service_id,
    attendance: events.find(({ attendance }) => attendance !== undefined)?.attendance ?? null,
  };
}

function timeOf(text: string | null | undefined): Date | null {
  return text ? new Date(text) : null;
}
