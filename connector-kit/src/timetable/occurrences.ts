import { Temporal } from 'temporal-polyfill';
import type { Period, Timetable } from '../schedules.ts';
import { recurrenceRule } from './recurrence-rule.ts';

type Occurrences = Pick<Timetable, 'localStart' | 'localEnd' | 'recurrence' | 'endsAt'>;

/**
 * The occurrences that overlap `window`, ordered by time. An occurrence starts and ends at local times. One whose start is
 * skipped by a clock change does not take place (RFC 5545, section 3.3.10). Exceptions are not applied.
 */
export function occurrencesOf(timetable: Occurrences, timeZone: string, window: Period): Period[] {
  const { localStart, localEnd, recurrence, endsAt } = timetable;
  const first = Temporal.PlainDateTime.from(localStart);
  const length = first.until(Temporal.PlainDateTime.from(localEnd));
  // One extra hour, because the clock may be set forward during the occurrence.
  const from = () => zoned(window.start, timeZone).subtract(length).subtract({ hours: 1 });
  const starts =
    recurrence === null
      ? [first.toZonedDateTime(timeZone)]
      : recurrenceRule(localStart, recurrence, timeZone).between(from(), zoned(window.end, timeZone), true);
  return starts
    .map((start, index) => {
      const end = start.toPlainDateTime().add(length).toZonedDateTime(timeZone).epochMilliseconds;
      // An end that a clock change skips is later, and may be after the start of the next occurrence.
      const next = starts[index + 1]?.epochMilliseconds ?? end;
      return { start: new Date(start.epochMilliseconds), end: new Date(Math.min(end, next)) };
    })
    .filter(({ start, end }) => start < window.end && end > window.start && (endsAt === null || start < endsAt));
}

/** The instant of a local time. One that is skipped by a clock change counts as that much later. */
export function instantOf(local: string, timeZone: string): Date {
  return new Date(Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone).epochMilliseconds);
}

function zoned(date: Date, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(date.getTime()).toZonedDateTimeISO(timeZone);
}
