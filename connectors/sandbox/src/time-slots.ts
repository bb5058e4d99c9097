import {
  type CareUnit,
  coversWithoutGap,
  overlaps,
  type Period,
  type TimeSlot,
  type TimeSlotPosition,
  type TimeSlotQuery,
  type Timetable,
} from '@crossward/connector-kit';
import { slotsOf } from '@crossward/connector-kit/timetable';
import type { Kysely } from 'kysely';
import { takenState } from './appointment-state.ts';
import { loadSchedules, type SandboxSchedule } from './schedule-reads.ts';
import type { SandboxTables } from './tables.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** Days searched in the first step: the first few days often fill a page. */
const firstStepDays = 2;
const longestStepDays = 32;

/** Free slots of the care unit. Searches the range in growing steps and stops when the page is full. */
export async function listTimeSlots(
  db: Kysely<SandboxTables>,
  emr: string,
  query: TimeSlotQuery,
): Promise<readonly TimeSlot[]> {
  const loaded = await loadSchedules(db, emr, query.careUnit.id, query.resourceIds);
  if (!loaded) return [];
  const timetables = [...Map.groupBy(loaded.schedules, timetableOf).values()];
  const found: TimeSlot[] = [];
  const end = query.end.getTime();
  const now = loaded.now.getTime();
  let from = Math.max(query.start.getTime(), now, query.after?.start.getTime() ?? now);
  for (let days = firstStepDays; from < end && found.length < query.limit; days = Math.min(days * 2, longestStepDays)) {
    const until = Math.min(from + days * dayMilliseconds, end);
    // A slot belongs to the step in which it starts, and may end in the next.
    const window = { start: new Date(from), end: new Date(Math.min(until + dayMilliseconds, end)) };
    const candidates = timetables
      .flatMap((schedules) => candidatesOf(schedules, query, window))
      .filter((slot) => slot.start.getTime() < until && isAfter(slot, query.after))
      .sort(byPosition);
    if (candidates.length > 0)
      found.push(...(await freeOf(db, emr, candidates, query.freeing ?? [], query.limit - found.length)));
    from = until;
  }
  return found;
}

export interface WantedTime extends Period {
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  /** Whether the time was held before: it may have begun by now. */
  readonly wasHeld?: boolean;
}

/** Whether scheduled slots cover each of these times. Ignores existing appointments. */
export function areScheduled(
  schedules: readonly SandboxSchedule[],
  { timeZone }: CareUnit,
  wanted: readonly WantedTime[],
): boolean {
  return wanted.every((time) => {
    const slots = schedules
      .filter((it) => it.resourceId === time.resourceId)
      .filter((it) => it.healthcareServiceIds.includes(time.healthcareServiceId))
      .flatMap((schedule) => slotsOf(schedule, timeZone, time));
    return coversWithoutGap(slots, time);
  });
}

/** Schedules with the same timetable have the same slots. */
function timetableOf({ localStart, localEnd, slotMinutes, recurrence, endsAt, exceptions }: Timetable): string {
  return JSON.stringify([localStart, localEnd, slotMinutes, recurrence, endsAt, exceptions]);
}

/** Scheduled slots that match the query. All schedules must have the same timetable, so slots are computed once. */
function candidatesOf(schedules: readonly SandboxSchedule[], query: TimeSlotQuery, window: Period): TimeSlot[] {
  const wanted = query.healthcareServiceIds;
  const offered = schedules.flatMap(({ resourceId, healthcareServiceIds }) =>
    healthcareServiceIds
      .filter((id) => wanted === undefined || wanted.includes(id))
      .map((healthcareServiceId) => ({ resourceId, healthcareServiceId })),
  );
  const [any] = schedules;
  if (!any || offered.length === 0) return [];
  return slotsOf(any, query.careUnit.timeZone, window).flatMap(({ start, end }) =>
    offered.map(({ resourceId, healthcareServiceId }) => ({ start, end, resourceId, healthcareServiceId })),
  );
}

async function freeOf(
  db: Kysely<SandboxTables>,
  emr: string,
  candidates: readonly TimeSlot[],
  freeing: readonly string[],
  limit: number,
): Promise<TimeSlot[]> {
  const start = new Date(Math.min(...candidates.map((slot) => slot.start.getTime())));
  const end = new Date(Math.max(...candidates.map((slot) => slot.end.getTime())));
  const taken = await db
    .selectFrom('sandbox.appointments')
    .select(['resource_id', 'starts_at', 'ends_at'])
    .where('emr', '=', emr)
    .where('resource_id', 'in', [...new Set(candidates.map((slot) => slot.resourceId))])
    .where('starts_at', '<', end)
    .where('ends_at', '>', start)
    .where('starts_at', '>', new Date(start.getTime() - dayMilliseconds))
    .where(takenState)
    .$if(freeing.length > 0, (query) => query.where('id', 'not in', [...freeing]))
    .execute();
  const takenOf = Map.groupBy(taken, (row) => row.resource_id);
  const free: TimeSlot[] = [];
  for (const slot of candidates) {
    if (free.length === limit) break;
    const blocked = takenOf
      .get(slot.resourceId)
      ?.some((row) => overlaps(slot, { start: row.starts_at, end: row.ends_at }));
    if (!blocked) free.push(slot);
  }
  return free;
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

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
