import type { WantedTime } from '../booking/changes/drafts.ts';
import { slotPlace } from '../booking/vendors/oracle-slots.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type FhirAppointment, type FhirResource, type FhirSlot, localReference } from '../fhir.ts';
import { serviceTypeToken } from '../mappers/healthcare-service.ts';
import { readInstant } from '../mappers/instants.ts';
import { slotTime } from '../mappers/slot.ts';
import { chunks } from '../server/chunks.ts';
import type { SearchParameters } from '../server/client.ts';
import type { FhirConnection } from '../server/connection.ts';
import { defaultSlotPageSize } from '../settings.ts';

export interface SlotSearch {
  readonly start: Date;
  readonly before: Date;
  /** `undefined`: any status. */
  readonly statuses: string | undefined;
  readonly services?: readonly string[] | undefined;
  /** Given the Appointments that name the slots, if the server returns them in the same search. */
  readonly withAppointments?: ((appointments: readonly FhirAppointment[]) => void) | undefined;
  /** Whether few slots are expected: those of one appointment. */
  readonly few?: boolean;
}

/**
 * The Slots of these schedules that start in `[start, before)`. The search has two bounds, because a bare date means a
 * whole day on some servers and nothing on others.
 */
export async function searchSlots(
  { client, settings, revIncludesAppointments, leftOut }: FhirConnection,
  directory: CareUnitDirectory,
  schedules: readonly string[],
  { start, before, statuses, services, withAppointments, few = false }: SlotSearch,
): Promise<FhirSlot[]> {
  const wanted = directory.services.filter(({ id }) => services === undefined || services.includes(id));
  const types = settings.slots?.require_service_type ? serviceTypeToken(wanted) : '';
  const place = slotPlace(client.habits, directory.location);
  const common: SearchParameters = [
    ...(statuses === undefined ? [] : [['status', statuses] as const]),
    ...(types === '' ? [] : [['service-type', types] as const]),
    ...(place ? [place] : []),
    ...(withAppointments && revIncludesAppointments ? [['_revinclude', 'Appointment:slot'] as const] : []),
    ['_count', String(settings.slots?.page_size ?? defaultSlotPageSize)],
  ];
  const places: SearchParameters[] =
    settings.slots?.search_by === 'schedule.actor'
      ? chunks(directory.actorsOf(schedules), 20).map((actors) => [['schedule.actor', actors.join(',')]])
      : chunks(schedules, 20).map((some) => [['schedule', some.join(',')]]);
  const search = async (parameters: SearchParameters) => {
    const slots = new Map<string, FhirSlot>();
    for await (const { resources, included } of client.pages('Slot', parameters, { few, droppable: ['status'] })) {
      for (const slot of resources as readonly FhirSlot[]) slots.set(slot.id ?? '', slot);
      withAppointments?.(included.filter(isAppointment));
    }
    return [...slots.values()];
  };
  const found: FhirSlot[][] = [];
  for (const period of periods(start, before, settings.slots?.longest_hours)) {
    found.push(...(await Promise.all(places.map((place) => search([...place, ...period, ...common])))));
  }
  const asked = new Set(schedules);
  const wantedStatuses = statuses?.split(',');
  // Some servers ignore a search parameter that they do not know.
  return found.flat().filter((slot) => {
    if (wantedStatuses && !wantedStatuses.includes(slot.status ?? '')) return false;
    if (!asked.has(localReference(slot.schedule) ?? '')) return false;
    const time = slotTime(slot);
    if (!time) leftOut({ type: 'Slot', id: slot.id, path: readInstant(slot.start) ? '/end' : '/start' });
    return time && time.start >= start && time.start < before;
  });
}

/** The bounds of searches that span a time together, each at most `longestHours` of it. */
function periods(start: Date, before: Date, longestHours = Number.POSITIVE_INFINITY): SearchParameters[] {
  const found: SearchParameters[] = [];
  let from = start.getTime();
  do {
    const until = Math.min(from + longestHours * 60 * 60 * 1000, before.getTime());
    found.push([
      ['start', `ge${new Date(from).toISOString()}`],
      ['start', `lt${new Date(until).toISOString()}`],
    ]);
    from = until;
  } while (from < before.getTime());
  return found;
}

function isAppointment(resource: FhirResource): resource is FhirAppointment {
  return resource.resourceType === 'Appointment';
}

/** All slots of a resource that start in a time, whatever their status is. */
export function slotsAt(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  { resourceId, serviceId, start, end }: WantedTime,
): Promise<readonly FhirSlot[]> {
  return searchSlots(ehr, directory, directory.schedulesOf([resourceId]), {
    start,
    before: end,
    statuses: undefined,
    few: true,
    services: serviceId === null ? undefined : [serviceId],
  });
}
