import { LruMap } from 'toad-cache';

const dayMs = 24 * 60 * 60 * 1000;
/** Of a day such as `2026-11-28`, and so of the day in a date-time. */
export const dayLength = 'YYYY-MM-DD'.length;

export function dayAfter(day: string): string {
  return new Date(Date.parse(day) + dayMs).toISOString().slice(0, dayLength);
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
