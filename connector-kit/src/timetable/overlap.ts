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

/** Whether a period of one list overlaps one of the other. Both must be ordered by time. */
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

function without(part: Period, exception: Period): Period[] {
  if (!overlaps(part, exception)) return [part];
  return [
    { start: part.start, end: exception.start },
    { start: exception.end, end: part.end },
  ].filter(({ start, end }) => start < end);
}
