import { Temporal } from 'temporal-polyfill';

export const timeZone = 'Europe/London';

/** Local time with its offset, in whole seconds. */
export function ukText(time: number): string {
  const zoned = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timeZone);
  return zoned.toString({ timeZoneName: 'never', smallestUnit: 'second' });
}

export function ukDay(time: number): string {
  return Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timeZone).toPlainDate().toString();
}

/** Milliseconds of a date-time whose offset is that of the United Kingdom then. `undefined`: it is not. */
export function fromUkText(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+0[01]:00$/.test(text)) return undefined;
  const time = Date.parse(text);
  return ukText(time) === text ? time : undefined;
}

/** The beginning of a day, in milliseconds. */
export function startOfUkDay(date: string): number {
  return Temporal.PlainDate.from(date).toZonedDateTime(timeZone).epochMilliseconds;
}
