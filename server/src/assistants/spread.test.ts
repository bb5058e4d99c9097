import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spread } from './spread.ts';

const dayOf = (time: string) => time.slice(0, 3);
const day = (name: string, ...hours: readonly number[]) =>
  hours.map((hour) => `${name} ${String(hour).padStart(2, '0')}`);

test.each([
  ['few times are all shown', [...day('mon', 8, 9), ...day('tue', 8)], 5, ['mon 08', 'mon 09', 'tue 08']],
  [
    'each day has a share',
    [...day('mon', 8, 9, 10, 11), ...day('tue', 8, 9)],
    4,
    ['mon 08', 'mon 10', 'tue 08', 'tue 09'],
  ],
  [
    'what a day cannot use goes to others',
    [...day('mon', 8), ...day('tue', 8, 9, 10, 11)],
    3,
    ['mon 08', 'tue 08', 'tue 10'],
  ],
  [
    'one day is spread over its hours',
    day('mon', 8, 9, 10, 11, 12, 13, 14, 15),
    4,
    ['mon 08', 'mon 10', 'mon 12', 'mon 14'],
  ],
  [
    'of many days, some',
    ['mon', 'tue', 'wed', 'thu', 'fri', 'sat'].flatMap((it) => day(it, 8, 9)),
    3,
    ['mon 08', 'wed 08', 'fri 08'],
  ],
  ['no times', [], 20, []],
])('%s', (_, times, most, expected) => {
  expect(spread(times, most, dayOf)).toEqual(expected);
});

test('as many as there may be, in order, from as many days as there can be, with the first time', () => {
  const dates = fc.array(fc.tuple(fc.nat(40), fc.integer({ min: 8, max: 17 })), { maxLength: 200 });
  fc.assert(
    fc.property(dates, fc.integer({ min: 1, max: 20 }), (pairs, most) => {
      const times = pairs
        .map(([date, hour]) => `${String(date).padStart(3, '0')} ${String(hour).padStart(2, '0')}`)
        .sort();
      const chosen = spread(times, most, dayOf);
      expect(chosen).toHaveLength(Math.min(most, times.length));
      expect(chosen).toEqual(chosen.toSorted());
      expect(chosen[0]).toBe(times[0]);
      const days = new Set(times.map(dayOf)).size;
      expect(new Set(chosen.map(dayOf)).size).toBe(Math.min(days, most));
    }),
  );
});
