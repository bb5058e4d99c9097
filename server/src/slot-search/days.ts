const dayMs = 24 * 60 * 60 * 1000;
/** Of a day such as `2026-11-28`, and so of the day in a date-time. */
export const dayLength = 'YYYY-MM-DD'.length;

export function dayAfter(day: string): string {
  return new Date(Date.parse(day) + dayMs).toISOString().slice(0, dayLength);
}

/** The days of the calendar from `firstDay`, before `endDay`. */
export function daysBetween(firstDay: string, endDay: string): readonly string[] {
  const days: string[] = [];
  for (let day = firstDay; day < endDay; day = dayAfter(day)) days.push(day);
  return days;
}
