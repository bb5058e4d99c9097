import type { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { nextClockChange } from '../../../test/requests/clock-change-days.ts';
import { parseClockChange } from './clock-change.ts';

const timeZone = 'Europe/Oslo';
const defaults = { timeZone, resourceId: 'r-1', healthcareServiceId: 'consultation', slots: undefined };
const local = (date: Temporal.PlainDate, time: string) =>
  new Date(date.toZonedDateTime({ timeZone, plainTime: time }).epochMilliseconds);

describe('a clock change', () => {
  test.each([
    ['spring', 10],
    ['autumn', 14],
  ] as const)('in %s has a slot every half hour of elapsed time until 06:00', (season, count) => {
    const { date, instant } = nextClockChange(timeZone, season);
    const change = parseClockChange(`${date}`, defaults);
    expect(change).toMatchObject({ resourceId: 'r-1', healthcareServiceId: 'consultation' });
    expect([change.start, change.at, change.end]).toEqual([
      local(date, '00:00'),
      new Date(instant.epochMilliseconds),
      local(date, '06:00'),
    ]);
    expect(change.slotStarts).toEqual(
      Array.from({ length: count }, (_, index) => new Date(change.start.getTime() + index * 30 * 60_000)),
    );
  });

  test('has its own resource, service and slots', () => {
    const { date } = nextClockChange(timeZone, 'autumn');
    const slots = '01:00-04:00/60';
    const change = parseClockChange(`${date}:r-2:vaccination`, { ...defaults, slots });
    expect(change).toMatchObject({
      resourceId: 'r-2',
      healthcareServiceId: 'vaccination',
      start: local(date, '01:00'),
      end: local(date, '04:00'),
    });
    expect(change.slotStarts).toHaveLength(4);
  });

  const { date } = nextClockChange(timeZone, 'spring');
  test.each([
    ['someday', {}, 'Invalid --clock-change: someday'],
    [`${date}:r-1`, {}, 'Invalid --clock-change'],
    [`${date}`, { resourceId: undefined }, '--resource'],
    [`${date}`, { healthcareServiceId: undefined }, '--service'],
    [`${date}`, { slots: 'all night' }, 'Invalid --clock-change-slots: all night'],
    [`${date}`, { slots: '25:00-26:00/30' }, 'Invalid --clock-change-slots'],
    [`${date}`, { slots: '00:00-06:00/0' }, 'Invalid --clock-change-slots'],
    [`${date}`, { slots: '06:00-00:00/30' }, 'Invalid --clock-change-slots'],
    [`${date.add({ days: 1 })}`, {}, 'does not change in Europe/Oslo'],
    [`${date.subtract({ days: 1 })}`, {}, `The next change is on ${date}`],
    ['2024-03-31', {}, '2024-03-31 is over'],
    [`${date}`, { timeZone: 'UTC' }, 'does not change in UTC'],
  ])('%s with %j is rejected', (text, options, message) => {
    expect(() => parseClockChange(text, { ...defaults, ...options })).toThrow(message);
  });
});
