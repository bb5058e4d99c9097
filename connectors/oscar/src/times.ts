import { localInstants } from '@crossward/connector-kit/rest';
import { Temporal } from 'temporal-polyfill';

const minute = 60_000;

/** The beginning of a date (`2026-03-29`). */
export function startOf(timeZone: string, date: string): Date {
  return new Date(Temporal.PlainDate.from(date).toZonedDateTime(timeZone).epochMilliseconds);
}

export function nextDate(date: string): string {
  return Temporal.PlainDate.from(date).add({ days: 1 }).toString();
}

/**
 * When the clocks show a minute of a day. Of an hour that they repeat, Java reads the second; `undefined` in an hour that they
 * skip.
 */
export function instantAt(timeZone: string, date: string, minuteOfDay: number): Date | undefined {
  const local = Temporal.PlainDate.from(date).toPlainDateTime().add({ minutes: minuteOfDay });
  return localInstants(timeZone, local.toString()).at(-1);
}

/**
 * The end of an appointment. Staff store its last minute: 09:14 for 15 minutes from 09:00. Others store 09:14:59 or 09:15.
 * `null`: it is not after the start.
 */
export function endIn(start: Date, stored: Date | null): Date | null {
  if (!stored) return null;
  const minutes = Math.ceil((stored.getTime() - start.getTime()) / minute);
  const length = (minutes + 1) % 5 === 0 ? minutes + 1 : minutes;
  return length > 0 ? new Date(start.getTime() + length * minute) : null;
}

/** What staff would store as the end. */
export function lastMinute(end: Date): Date {
  return new Date(end.getTime() - minute);
}

/** Lengths that `endIn` reads as they are written. */
export function isWritable(minutes: number): boolean {
  return Number.isInteger(minutes) && minutes > 0 && minutes % 5 === 0;
}
