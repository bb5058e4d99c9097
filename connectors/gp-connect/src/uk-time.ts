import { dateIn } from '@crossward/connector-kit/rest';
import { Temporal } from 'temporal-polyfill';

/** All times of GP Connect are local times of the United Kingdom with their offset: `+01:00` in summer, else `+00:00`. */
const timeZone = 'Europe/London';

function inUk(time: Date): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(time.getTime()).toZonedDateTimeISO(timeZone);
}

/** Such as `2026-03-29T10:00:00+01:00`. Fractions of a second are cut off. */
export function ukTime(time: Date): string {
  return inUk(time).toString({ timeZoneName: 'never', smallestUnit: 'second' });
}

/** Such as `2026-03-29`. */
export function ukDate(time: Date): string {
  return dateIn(timeZone, time);
}

/** The same time on the clock, this many days later. */
export function plusUkDays(time: Date, days: number): Date {
  return new Date(inUk(time).add({ days }).epochMilliseconds);
}
