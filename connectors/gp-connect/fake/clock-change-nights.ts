import { nextClockChange } from '../../../test/requests/clock-change-days.ts';
import { timeZone } from './uk-text.ts';

/** The night of a clock change, with slots of 30 minutes from 23:30 to 06:00 local time. */
export interface ClockChangeNight {
  readonly name: string;
  readonly start: Date;
  readonly end: Date;
  /** The moment at which the clock changes. */
  readonly at: Date;
  readonly minutes: number;
  /** In milliseconds. */
  readonly starts: readonly number[];
}

export function clockChangeNights(): ClockChangeNight[] {
  return (['spring', 'autumn'] as const).map((season) => {
    const { date, instant } = nextClockChange(timeZone, season);
    const evening = date.subtract({ days: 1 }).toZonedDateTime({ timeZone, plainTime: '23:30' });
    const morning = date.toZonedDateTime({ timeZone, plainTime: '06:00' });
    const [start, end] = [evening.epochMilliseconds, morning.epochMilliseconds];
    const minutes = 30;
    const count = (end - start) / (minutes * 60_000);
    return {
      name: `the night in ${season}`,
      start: new Date(start),
      end: new Date(end),
      at: new Date(instant.epochMilliseconds),
      minutes,
      starts: Array.from({ length: count }, (_, index) => start + index * minutes * 60_000),
    };
  });
}
