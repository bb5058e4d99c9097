import type { TimeSlot, TimeSlotPosition, TimeSlotQuery, Timetable } from '@crossward/connector-kit';
import { slotsOf } from '@crossward/connector-kit/timetable';
import type { LoadedSchedules, SandboxSchedule } from './schedule-reads.ts';

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;
const weeksKept = 100;

/** Slots that start in a week, by the week and what they are for. Dropped with the schedules. */
const weeks = new WeakMap<LoadedSchedules, Map<string, readonly TimeSlot[]>>();

/** Scheduled slots that match the query and start at `from` or later, in order. Ignores appointments. */
export function* candidates(loaded: LoadedSchedules, query: TimeSlotQuery, from: number): Generator<TimeSlot> {
  const end = query.end.getTime();
  const { after } = query;
  for (let week = Math.floor(from / weekMilliseconds); week * weekMilliseconds < end; week++) {
    for (const slot of slotsOfWeek(loaded, query, week)) {
      if (slot.start.getTime() < from || slot.end.getTime() > end) continue;
      if (after === undefined || byPosition(slot, after) > 0) yield slot;
    }
  }
}

/** Cached, because computing and sorting the slots costs more than finding out which of them are free. */
function slotsOfWeek(
  loaded: LoadedSchedules,
  { careUnit, resourceIds, healthcareServiceIds }: TimeSlotQuery,
  week: number,
): readonly TimeSlot[] {
  let known = weeks.get(loaded);
  if (!known) {
    known = new Map();
    weeks.set(loaded, known);
  }
  const key = JSON.stringify([week, resourceIds, healthcareServiceIds]);
  const kept = known.get(key);
  if (kept) return kept;
  const schedules = loaded.schedules.filter((it) => resourceIds === undefined || resourceIds.includes(it.resourceId));
  const slots = [...Map.groupBy(schedules, timetableOf).values()]
    .flatMap((alike) => slotsOfAlike(alike, healthcareServiceIds, careUnit.timeZone, week))
    .sort(byPosition);
  if (known.size >= weeksKept) known.clear();
  known.set(key, slots);
  return slots;
}

/** Schedules with the same timetable have the same slots. */
function timetableOf({ localStart, localEnd, slotMinutes, recurrence, endsAt, exceptions }: Timetable): string {
  return JSON.stringify([localStart, localEnd, slotMinutes, recurrence, endsAt, exceptions]);
}

/** All schedules must have the same timetable, so that slots are computed once. */
function slotsOfAlike(
  schedules: readonly SandboxSchedule[],
  services: readonly string[] | undefined,
  timeZone: string,
  week: number,
): TimeSlot[] {
  const offered = schedules.flatMap(({ resourceId, healthcareServiceIds }) =>
    healthcareServiceIds
      .filter((id) => services === undefined || services.includes(id))
      .map((healthcareServiceId) => ({ resourceId, healthcareServiceId })),
  );
  const [any] = schedules;
  if (!any || offered.length === 0) return [];
  const start = new Date(week * weekMilliseconds);
  // The last slot that starts in the week may end in the next.
  const window = { start, end: new Date(start.getTime() + 2 * weekMilliseconds) };
  return slotsOf(any, timeZone, window)
    .filter((slot) => slot.start.getTime() < start.getTime() + weekMilliseconds)
    .flatMap((slot) => offered.map((it) => ({ start: slot.start, end: slot.end, ...it })));
}

function byPosition(a: TimeSlotPosition, b: TimeSlotPosition): number {
  return (
    a.start.getTime() - b.start.getTime() ||
    compare(a.resourceId, b.resourceId) ||
    compare(a.healthcareServiceId, b.healthcareServiceId)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
