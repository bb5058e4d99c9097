import { LruMap } from 'toad-cache';
import { startOfDay } from '../time/date-times.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Of a day such as `2026-11-28`, and so of the day in a date-time. */
const dayLength = 'YYYY-MM-DD'.length;

export function dayAfter(day: string): string {
  return new Date(Date.parse(day) + dayMs).toISOString().slice(0, dayLength);
}

const starts = new LruMap<number>(10_000);

/** When a day of the calendar begins in a time zone. Milliseconds since 1970. Care units of a search ask for the same ones. */
export function startOf(day: string, timeZone: string): number {
  const key = `${day} ${timeZone}`;
  const start = starts.get(key) ?? (startOfDay(day, timeZone) as Date).getTime();
  starts.set(key, start);
  return start;
}

/** Care units of a search have the same days, or nearly. */
const known = new LruMap<readonly string[]>(100);

/** The days of the calendar from `firstDay`, before `endDay`. */
export function daysBetween(firstDay: string, endDay: string): readonly string[] {
  const key = `${firstDay} ${endDay}`;
  const days = known.get(key) ?? listDays(Date.parse(firstDay), Date.parse(endDay));
  known.set(key, days);
  return days;
}

function listDays(first: number, end: number): readonly string[] {
  return Array.from({ length: Math.max(0, end - first) / dayMs }, (_, n) =>
    new Date(first + n * dayMs).toISOString().slice(0, dayLength),
  );
}
