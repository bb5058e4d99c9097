import type { TimeSlot, TimeSlotPosition, TimeSlotQuery } from '@crossward/connector-kit';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { compare } from '../fhir.ts';
import type { FhirConnection } from '../server/connection.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** How many days are searched at once. The first few days of many schedules often fill a page. */
const shortestStretchDays = 4;
const longestStretchDays = 32;

/** A time at which a resource is free, and the ids of the services that it can be booked for. */
export interface FreeTime {
  readonly start: Date;
  readonly end: Date;
  readonly resourceId: string;
  readonly serviceIds: readonly string[];
}

/** Finds the free times that start in `[start, before)`, in any order. */
export type FindFreeTimes = (range: { readonly start: Date; readonly before: Date }) => Promise<readonly FreeTime[]>;

/**
 * The source of free times. Called once for a query; the function that it returns is called for each part of the
 * query's range.
 */
export type FreeTimeSource = (
  directory: CareUnitDirectory,
  schedules: readonly string[],
  query: TimeSlotQuery,
) => Promise<FindFreeTimes>;

/** Lists free times, a few days at a time until the page is full. Sorts them here, because some servers do not. */
export async function listTimeSlots(
  ehr: FhirConnection,
  query: TimeSlotQuery,
  source: FreeTimeSource,
): Promise<readonly TimeSlot[]> {
  const directory = await ehr.directory.of(query.careUnit);
  const schedules = directory.schedulesOf(query.resourceIds);
  if (schedules.length === 0) return [];
  const findFreeTimes = await source(directory, schedules, query);
  const found: TimeSlot[] = [];
  const now = Date.now();
  let from = Math.max(query.start.getTime(), now, query.after?.start.getTime() ?? now);
  for (
    let days = Math.max(shortestStretchDays, Math.floor(longestStretchDays / schedules.length));
    from < query.end.getTime() && found.length < query.limit;
    days = Math.min(days * 2, longestStretchDays)
  ) {
    const until = Math.min(from + days * dayMilliseconds, query.end.getTime());
    const free = await findFreeTimes({ start: new Date(from), before: new Date(until) });
    found.push(...toTimeSlots(free, query).slice(0, query.limit - found.length));
    from = until;
  }
  return found;
}

/** If several slots start at the same time for the same resource and service, returns the shortest. */
function toTimeSlots(times: readonly FreeTime[], query: TimeSlotQuery): TimeSlot[] {
  const now = new Date();
  const found = new Map<string, TimeSlot>();
  for (const { start, end, resourceId, serviceIds } of times) {
    if (start < now || start < query.start || end > query.end) continue;
    for (const healthcareServiceId of serviceIds) {
      if (query.healthcareServiceIds && !query.healthcareServiceIds.includes(healthcareServiceId)) continue;
      const timeSlot = { start, end, resourceId, healthcareServiceId };
      if (query.after !== undefined && byPosition(timeSlot, query.after) <= 0) continue;
      const key = `${start.getTime()} ${resourceId} ${healthcareServiceId}`;
      const other = found.get(key);
      if (!other || other.end > end) found.set(key, timeSlot);
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
