import { Temporal } from 'temporal-polyfill';

/** The calendar date of an instant in a time zone: `2026-03-29`. */
export function dateIn(timeZone: string, instant: Date): string {
  return zoned(timeZone, instant).toPlainDate().toString();
}

/** All dates of a range in a time zone, from that of its start to that of its last moment. */
export function datesIn(timeZone: string, { start, end }: { readonly start: Date; readonly end: Date }): string[] {
  if (end <= start) return [];
  const last = zoned(timeZone, new Date(end.getTime() - 1)).toPlainDate();
  const dates: string[] = [];
  let date = zoned(timeZone, start).toPlainDate();
  for (; Temporal.PlainDate.compare(date, last) <= 0; date = date.add({ days: 1 })) dates.push(date.toString());
  return dates;
}

/** An instant on the clocks of a time zone. */
export function zoned(timeZone: string, instant: Date): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timeZone);
}

/**
 * The instants of a date-time without an offset, such as `2026-03-29T02:30:00`, the first one first: one, two in the hour that
 * autumn's clock change repeats, and none in the hour that spring's skips, or for what the calendar does not have.
 */
export function localInstants(timeZone: string, text: string): readonly Date[] {
  const local = plainTime(text);
  if (!local) return [];
  const both = (['earlier', 'later'] as const).map((disambiguation) =>
    local.toZonedDateTime(timeZone, { disambiguation }),
  );
  const real = both.filter((it) => it.toPlainDateTime().equals(local)).map((it) => it.epochMilliseconds);
  return [...new Set(real)].map((it) => new Date(it));
}

function plainTime(text: string): Temporal.PlainDateTime | undefined {
  try {
    return Temporal.PlainDateTime.from(text, { overflow: 'reject' });
  } catch {
    return undefined;
  }
}

/**
 * The instant of a date-time with its offset. `undefined`: it is no text, the calendar has no such time, or it has no offset, and
 * could be that of any time zone.
 */
export function instantIn(text: unknown): Date | undefined {
  if (typeof text !== 'string') return undefined;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  try {
    return new Date(Temporal.Instant.from(text).epochMilliseconds);
  } catch {
    return undefined;
  }
}
