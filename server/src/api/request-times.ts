import { type Place, problemAt } from '../problems/problem.ts';
import { NonexistentLocalTime, toInstant } from '../time/date-times.ts';

export interface TimeRange {
  readonly start: Date;
  readonly end: Date;
}

interface RangeText {
  readonly start: string;
  readonly end: string;
}

/** The places of `start` and `end` in the request. */
export interface RangePlaces {
  readonly start: Place;
  readonly end: Place;
}

/**
 * Reads a time range of the request. Times without an offset are local times of the care unit.
 *
 * @throws Problem `local_time_nonexistent`, `time_range_invalid`
 */
export function readRange(text: RangeText, places: RangePlaces, timeZone: string, longestHours?: number): TimeRange {
  const start = readTime(text.start, places.start, timeZone);
  const end = readTime(text.end, places.end, timeZone);
  if (end <= start) throw problemAt(places.end, 'time_range_invalid', 'The end must be after the start.');
  if (longestHours !== undefined && end.getTime() - start.getTime() > longestHours * 3_600_000) {
    const longest =
      longestHours % 24 === 0 && longestHours > 24 ? `${longestHours / 24} days` : `${longestHours} hours`;
    throw problemAt(places.end, 'time_range_invalid', `The range must not be longer than ${longest}.`);
  }
  return { start, end };
}

/** @throws Problem `time_range_invalid` when the time is not in the future */
export function assertNotPast(start: Date, place: Place): void {
  if (start.getTime() <= Date.now()) throw problemAt(place, 'time_range_invalid', 'The time must not be in the past.');
}

/**
 * Reads a time of the request. Without an offset, it is local time of the care unit.
 *
 * @throws Problem `local_time_nonexistent`
 */
export function readTime(text: string, place: Place, timeZone: string): Date {
  try {
    return toInstant(text, timeZone);
  } catch (error) {
    if (!(error instanceof NonexistentLocalTime)) throw error;
    throw problemAt(
      place,
      'local_time_nonexistent',
      `This local time does not exist in ${timeZone}: the clock skips it.`,
    );
  }
}
