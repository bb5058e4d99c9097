import { setImmediate } from 'node:timers/promises';
import type { Period, Timetable } from '../schedules.ts';
import { overlaps } from '../time-slots.ts';
import { occurrencesOf } from './occurrences.ts';

/** Days in which two schedules of a resource must not overlap: two years. */
const overlapDays = 731;
const dayMilliseconds = 24 * 60 * 60 * 1000;

/** The period in which a new schedule must not overlap others: two years from its start, or from now if that is later. */
export function overlapWindow(firstStart: Date, now: Date): Period {
  const start = new Date(Math.max(firstStart.getTime(), now.getTime()));
  return { start, end: new Date(start.getTime() + overlapDays * dayMilliseconds) };
}

/** Whether a period of one list overlaps one of the other. Both must be ordered by their starts. */
export function periodsOverlap(first: readonly Period[], second: readonly Period[]): boolean {
  let [i, j] = [0, 0];
  for (;;) {
    const [left, right] = [first[i], second[j]];
    if (!left || !right) return false;
    if (overlaps(left, right)) return true;
    if (left.end <= right.start) i++;
    else j++;
  }
}

/** The occurrences of a schedule inside `window`, ordered by time, without the parts that exceptions take out. */
export function openPeriodsOf(timetable: Timetable, timeZone: string, window: Period): Period[] {
  return occurrencesOf(timetable, timeZone, window).flatMap((occurrence) =>
    timetable.exceptions.reduce((left, exception) => left.flatMap((part) => without(part, exception)), [occurrence]),
  );
}

/** Days whose occurrences are found in one go, which takes some milliseconds. */
const partDays = 91;

/**
 * Like `openPeriodsOf`, for a long window: the event loop runs between its parts. A period that lies in two parts is returned as
 * two.
 */
export async function openPeriodsInParts(timetable: Timetable, timeZone: string, window: Period): Promise<Period[]> {
  const periods: Period[] = [];
  const partMilliseconds = partDays * dayMilliseconds;
  for (let from = window.start.getTime(); from < window.end.getTime(); from += partMilliseconds) {
    const part = { start: new Date(from), end: new Date(Math.min(from + partMilliseconds, window.end.getTime())) };
    const found = openPeriodsOf(timetable, timeZone, part);
    periods.push(...found.map((period) => within(period, part)));
    const { endsAt } = timetable;
    if (found.length === 0 && endsAt !== null && part.start >= endsAt) break;
    await setImmediate();
  }
  return periods;
}

function within({ start, end }: Period, part: Period): Period {
  return { start: start < part.start ? part.start : start, end: end > part.end ? part.end : end };
}

function without(part: Period, exception: Period): Period[] {
  if (!overlaps(part, exception)) return [part];
  return [
    { start: part.start, end: exception.start },
    { start: exception.end, end: part.end },
  ].filter(({ start, end }) => start < end);
}
