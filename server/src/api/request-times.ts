import { type Place, problemAt } from '../problems/problem.ts';
import { formatInstant, hasOffsetOf, NonexistentLocalTime, toInstant } from '../time/date-times.ts';

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

/**
 * Checks the offsets of local times that may be written like the `start` of a time slot.
 *
 * @throws Problem `time_range_invalid` for an offset that the care unit does not have at that instant
 */
export function assertOffsetsOf(timeZone: string, text: RangeText, places: RangePlaces): void {
  for (const name of ['start', 'end'] as const) {
    if (hasOffsetOf(timeZone, text[name])) continue;
    const offset = formatInstant(toInstant(text[name], timeZone), timeZone).slice(-'+00:00'.length);
    const detail = `The offset must be that of the care unit. At this time it is ${offset} in ${timeZone}.`;
    throw problemAt(places[name], 'time_range_invalid', detail);
  }
}

/**
 * Reads a time range of which the start, the end or both may be missing.
 *
 * @throws Problem `local_time_nonexistent`, `time_range_invalid`
 */
export function readOpenRange(
  { start, end }: Partial<RangeText>,
  places: RangePlaces,
  timeZone: string,
): Partial<TimeRange> {
  if (start !== undefined && end !== undefined) return readRange({ start, end }, places, timeZone);
  return {
    ...(start === undefined ? {} : { start: readTime(start, places.start, timeZone) }),
    ...(end === undefined ? {} : { end: readTime(end, places.end, timeZone) }),
  };
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
