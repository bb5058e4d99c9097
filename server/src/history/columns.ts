import { Temporal } from 'temporal-polyfill';
import { offsetAt } from '../time/date-times.ts';

const hourMs = 3_600_000;

/** What one column of a plot covers. The last one is not over yet. */
export interface Column {
  readonly from: Date;
  readonly until: Date;
}

/** The 24 hours that end with the current one, as clocks in the time zone show them. */
export function lastHours(now: Date, timeZone: string): readonly Column[] {
  const { offset } = offsetAt(now, timeZone);
  const current = Math.floor((now.getTime() + offset) / hourMs) * hourMs - offset;
  return columnsBetween(Array.from({ length: 25 }, (_, index) => new Date(current + (index - 23) * hourMs)));
}

/** The 30 days that end with the current one. A day on which clocks change has 23 or 25 hours. */
export function lastDays(now: Date, timeZone: string): readonly Column[] {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone).toPlainDate();
  const borders = Array.from({ length: 31 }, (_, index) => today.add({ days: index - 29 }).toZonedDateTime(timeZone));
  return columnsBetween(borders.map(({ epochMilliseconds }) => new Date(epochMilliseconds)));
}

function columnsBetween(borders: readonly Date[]): readonly Column[] {
  return borders.slice(1).flatMap((until, index) => {
    const from = borders[index];
    return from ? [{ from, until }] : [];
  });
}
