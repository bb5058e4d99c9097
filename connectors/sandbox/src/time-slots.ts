import {
  type CareUnit,
  coversWithoutGap,
  type Period,
  type TimeSlot,
  type TimeSlotQuery,
} from '@crossward/connector-kit';
import { slotsOf } from '@crossward/connector-kit/timetable';
import type { Kysely } from 'kysely';
import type { ScheduleCache } from './schedule-cache.ts';
import type { LoadedSchedules, SandboxSchedule } from './schedule-reads.ts';
import { candidates } from './slot-candidates.ts';
import type { SandboxTables } from './tables.ts';
import { readTakenTimes } from './taken-times.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

/**
 * Free slots of the care unit. Takes one statement, unless so many of the first candidates are taken that the page is not
 * full.
 */
export async function listTimeSlots(
  db: Kysely<SandboxTables>,
  emr: string,
  schedules: ScheduleCache,
  query: TimeSlotQuery,
): Promise<readonly TimeSlot[]> {
  for (;;) {
    const found = await searchIn(await schedules.get(query.careUnit.id), db, emr, query);
    if (found) return found;
    schedules.forget(query.careUnit.id);
  }
}

/** `undefined`: the schedules have changed since they were loaded. */
async function searchIn(
  loaded: LoadedSchedules,
  db: Kysely<SandboxTables>,
  emr: string,
  query: TimeSlotQuery,
): Promise<readonly TimeSlot[] | undefined> {
  // The database's clock decides which slots have started. This process's clock may differ, but not by a day.
  const earliest = Math.max(query.start.getTime(), Date.now() - dayMilliseconds, query.after?.start.getTime() ?? 0);
  const rest = candidates(loaded, query, earliest);
  const found: TimeSlot[] = [];
  for (;;) {
    // Twice what is missing, because some are taken.
    const wanted = 2 * (query.limit - found.length);
    const next = take(rest, wanted);
    const { version, now, isFree } = await readTakenTimes(db, emr, next, query.freeing ?? []);
    if (version !== loaded.version) return undefined;
    const free = next.filter((slot) => slot.start.getTime() > now && isFree(slot));
    found.push(...free.slice(0, query.limit - found.length));
    if (next.length < wanted || found.length === query.limit) return found;
  }
}

/** The next entries, `count` at most. Leaves the rest in the iterator. */
function take<Entry>(source: Iterator<Entry>, count: number): Entry[] {
  const taken: Entry[] = [];
  while (taken.length < count) {
    const next = source.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
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
