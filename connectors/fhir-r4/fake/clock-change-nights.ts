import type { Temporal } from 'temporal-polyfill';
import { nextClockChange } from '../../../test/requests/clock-change-days.ts';
import type { FhirResource } from '../src/fhir.ts';
import { timeZone } from './data-set.ts';

/** The night of a clock change, with free slots of 30 minutes from 23:30 to 06:00 local time. */
export interface ClockChangeNight {
  readonly season: 'spring' | 'autumn';
  readonly date: Temporal.PlainDate;
  readonly start: Date;
  readonly end: Date;
  /** The moment at which the clock changes. */
  readonly at: Date;
  readonly slots: readonly (FhirResource & { readonly start: string; readonly end: string })[];
}

/** The nights of the next clock change in spring and in autumn. Each slot has the offset valid at its start and end. */
export function clockChangeNights(): ClockChangeNight[] {
  return (['spring', 'autumn'] as const).map((season) => {
    const { date, instant } = nextClockChange(timeZone, season);
    const start = date.subtract({ days: 1 }).toZonedDateTime({ timeZone, plainTime: '23:30' });
    const end = date.toZonedDateTime({ timeZone, plainTime: '06:00' });
    return {
      season,
      date,
      start: new Date(start.epochMilliseconds),
      end: new Date(end.epochMilliseconds),
      at: new Date(instant.epochMilliseconds),
      slots: slotsBetween(start, end),
    };
  });
}

function slotsBetween(start: Temporal.ZonedDateTime, end: Temporal.ZonedDateTime): ClockChangeNight['slots'] {
  const count = (end.epochMilliseconds - start.epochMilliseconds) / (30 * 60_000);
  return Array.from({ length: count }, (_, index) => {
    const at = start.add({ minutes: 30 * index });
    return {
      resourceType: 'Slot',
      id: `slot-r-1-${at.epochMilliseconds / 60_000}`,
      schedule: { reference: 'Schedule/schedule-r-1' },
      status: 'free',
      start: at.toString({ timeZoneName: 'never' }),
      end: at.add({ minutes: 30 }).toString({ timeZoneName: 'never' }),
    };
  });
}
