import type { TimeSlot, TimeSlotPosition, TimeSlotQuery } from '@crossward/connector-kit';
import { chunks, type SearchParameters } from './client.ts';
import type { FhirConnection } from './connection.ts';
import type { CareUnitDirectory } from './directory.ts';
import { compare, type FhirAppointment, type FhirSlot, localReference, referenceTo } from './fhir.ts';
import { findSlots } from './found-slots.ts';
import { slotsOf } from './mappers/appointment.ts';
import { serviceTypeToken } from './mappers/healthcare-service.ts';
import { slotState, slotTime } from './mappers/slot.ts';
import { runOutHolds } from './run-out-holds.ts';
import { defaultPageSize } from './settings.ts';
import { livingOwners } from './slot-owners.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** How much of the range is searched at once: a page is often filled by the first few days. */
const firstStretchDays = 4;
const longestStretchDays = 32;

/** Free slots, stretch by stretch until the page is full. What a stretch answers is sorted here: not every server does. */
export async function listTimeSlots(ehr: FhirConnection, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const directory = await ehr.directory.of(query.careUnit);
  const schedules = directory.schedulesOf(query.resourceIds);
  if (schedules.length === 0) return [];
  const found: TimeSlot[] = [];
  const now = Date.now();
  let from = Math.max(query.start.getTime(), now, query.after?.start.getTime() ?? now);
  const over = await runOutHolds(ehr, directory, { ...query, resourceIds: query.resourceIds });
  const freeing = [...(query.freeing ?? []), ...over.flatMap(({ id }) => id ?? [])];
  const freed = await slotsOfAppointments(ehr, freeing);
  for (
    let days = firstStretchDays;
    from < query.end.getTime() && found.length < query.limit;
    days = Math.min(days * 2, longestStretchDays)
  ) {
    const until = Math.min(from + days * dayMilliseconds, query.end.getTime());
    const slots = await searchSlots(ehr, directory, schedules, {
      start: new Date(from),
      before: new Date(until),
      statuses: freed.size > 0 ? undefined : 'free,busy-tentative',
      services: query.healthcareServiceIds,
      freeing,
    });
    const free = await freeSlots(ehr, slots, freed);
    found.push(...toTimeSlots(free, directory, query).slice(0, query.limit - found.length));
    from = until;
  }
  return found;
}

export interface SlotSearch {
  readonly start: Date;
  readonly before: Date;
  readonly statuses: string | undefined;
  readonly services?: readonly string[] | undefined;
  /** Ids of appointments whose time counts as free, for a server that computes what is free. */
  readonly freeing?: readonly string[] | undefined;
}

/**
 * Slots that start in the range. Two bounds, since a bare date means a whole day on some servers and nothing on others.
 */
export async function searchSlots(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  schedules: readonly string[],
  search: SlotSearch,
): Promise<FhirSlot[]> {
  if (ehr.operationForm?.makesSlots) return findSlots(ehr, directory, schedules, search);
  const { client, settings } = ehr;
  const { start, before, statuses, services } = search;
  const wanted = directory.services.filter(({ id }) => services === undefined || services.includes(id));
  const types = settings.slots?.require_service_type ? serviceTypeToken(wanted) : '';
  const common: SearchParameters = [
    ['start', `ge${start.toISOString()}`],
    ['start', `lt${before.toISOString()}`],
    ...(statuses === undefined ? [] : [['status', statuses] as const]),
    ...(types === '' ? [] : [['service-type', types] as const]),
    ['_count', String(settings.slots?.page_size ?? defaultPageSize)],
  ];
  const places: SearchParameters[] =
    settings.slots?.search_by === 'schedule.actor'
      ? chunks(directory.actorsOf(schedules), 20).map((actors) => [['schedule.actor', actors.join(',')]])
      : chunks(schedules, 20).map((some) => [['schedule', some.join(',')]]);
  const found = await Promise.all(places.map((place) => client.search<FhirSlot>('Slot', [...place, ...common])));
  const asked = new Set(schedules);
  // Some servers ignore a search parameter that they do not know.
  return found.flat().filter((slot) => {
    const time = slotTime(slot);
    return time && asked.has(localReference(slot.schedule) ?? '') && time.start >= start && time.start < before;
  });
}

/** The slots that appointments are about to give up. */
async function slotsOfAppointments({ client }: FhirConnection, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const appointments = await client.readMany<FhirAppointment>(ids.map((id) => `Appointment/${id}`));
  return new Set(appointments.flatMap(slotsOf));
}

async function freeSlots(
  ehr: FhirConnection,
  slots: readonly FhirSlot[],
  freed: ReadonlySet<string>,
): Promise<FhirSlot[]> {
  const now = ehr.client.clock.now();
  const runOut = slots.filter((slot) => slotState(slot, now) === 'run_out');
  const owners = await livingOwners(ehr, runOut, now);
  return slots.filter((slot) => {
    if (freed.has(referenceTo(slot))) return slot.status !== 'busy-unavailable' && slot.status !== 'entered-in-error';
    const state = slotState(slot, now);
    return state === 'free' || (state === 'run_out' && !owners.has(referenceTo(slot)));
  });
}

function toTimeSlots(slots: readonly FhirSlot[], directory: CareUnitDirectory, query: TimeSlotQuery): TimeSlot[] {
  const now = new Date();
  const found = new Map<string, TimeSlot>();
  for (const slot of slots) {
    const time = slotTime(slot);
    const offer = directory.offerOf(slot);
    if (!time || !offer || time.start < now || time.start < query.start || time.end > query.end) continue;
    for (const { id } of offer.services) {
      if (query.healthcareServiceIds && !query.healthcareServiceIds.includes(id)) continue;
      const timeSlot = { ...time, resourceId: offer.resourceId, healthcareServiceId: id };
      if (!isAfter(timeSlot, query.after)) continue;
      const key = `${time.start.getTime()} ${offer.resourceId} ${id}`;
      const other = found.get(key);
      if (!other || other.end > time.end) found.set(key, timeSlot);
    }
  }
  return [...found.values()].sort(byPosition);
}

function byPosition(a: TimeSlotPosition, b: TimeSlotPosition): number {
  return (
    a.start.getTime() - b.start.getTime() ||
    compare(a.resourceId, b.resourceId) ||
    compare(a.healthcareServiceId, b.healthcareServiceId)
  );
}

function isAfter(slot: TimeSlotPosition, position: TimeSlotPosition | undefined): boolean {
  return position === undefined || byPosition(slot, position) > 0;
}
