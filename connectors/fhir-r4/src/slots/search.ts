import type { WantedTime } from '../booking/changes/drafts.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type FhirAppointment, type FhirResource, type FhirSlot, localReference } from '../fhir.ts';
import { serviceTypeToken } from '../mappers/healthcare-service.ts';
import { readInstant } from '../mappers/instants.ts';
import { slotTime } from '../mappers/slot.ts';
import { chunks } from '../server/chunks.ts';
import type { SearchParameters } from '../server/client.ts';
import type { FhirConnection } from '../server/connection.ts';
import { defaultSlotPageSize } from '../settings.ts';
import { slotsByService } from './by-service.ts';
import { periods, type SlotSearch } from './periods.ts';
import { slotPlace } from './slot-place.ts';

/** The Slots of these schedules that start in `[start, before)`. */
export async function searchSlots(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  schedules: readonly string[],
  wanted: SlotSearch,
): Promise<FhirSlot[]> {
  const { by_service: names } = ehr.settings.slots ?? {};
  const found = names
    ? await slotsByService(ehr, names, directory, schedules, wanted)
    : await slotsOfSchedules(ehr, directory, schedules, wanted);
  const asked = new Set(schedules);
  const statuses = wanted.statuses?.split(',');
  // Some servers ignore a search parameter that they do not know.
  return found.filter((slot) => {
    if (statuses && !statuses.includes(slot.status ?? '')) return false;
    if (!asked.has(localReference(slot.schedule) ?? '')) return false;
    const time = slotTime(slot);
    if (!time) ehr.leftOut({ type: 'Slot', id: slot.id, path: readInstant(slot.start) ? '/end' : '/start' });
    return time && time.start >= wanted.start && time.start < wanted.before;
  });
}

async function slotsOfSchedules(
  { client, settings, revIncludesAppointments }: FhirConnection,
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
  const found = new Map<string, FhirSlot>();
  for (const period of periods({ start, before }, settings)) {
    const parts = await Promise.all(places.map((place) => search([...place, ...period, ...common])));
    for (const slot of parts.flat()) found.set(slot.id ?? '', slot);
  }
  return [...found.values()];
}

function isAppointment(resource: FhirResource): resource is FhirAppointment {
  return resource.resourceType === 'Appointment';
}

/** All slots of a resource that start in a time, whatever their status is. */
export function slotsAt(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  { resourceId, serviceId, start, end }: WantedTime,
  moved?: string,
): Promise<readonly FhirSlot[]> {
  return searchSlots(ehr, directory, directory.schedulesOf([resourceId]), {
    start,
    before: end,
    statuses: undefined,
    few: true,
    moved,
    services: serviceId === null ? undefined : [serviceId],
  });
}
