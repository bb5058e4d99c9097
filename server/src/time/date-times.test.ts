import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import {
  formatInstant,
  hasOffsetOf,
  isCareUnitDateTime,
  isDateTime,
  isLocalDateTime,
  NonexistentLocalTime,
  startOfDay,
  toInstant,
} from './date-times.ts';

const zones = ['Europe/Oslo', 'Europe/London', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Apia', 'UTC'];

describe('isDateTime', () => {
  test.each([
    '2026-03-20T09:00:00Z',
    '2026-03-20t09:00:00z',
    '2026-03-20T09:00:00+01:00',
    '2026-03-20T09:00:00-23:59',
    '2026-03-20T09:00:00',
    '2026-03-20T09:00:00.1',
    '2026-03-20T09:00:00.123456789Z',
    '2024-02-29T00:00:00',
    '1900-01-01T00:00:00Z',
    '2200-12-31T23:59:59Z',
  ])('accepts %s', (text) => expect(isDateTime(text)).toBe(true));

  test.each([
    '',
    '2026-03-20',
    '2026-03-20T09:00',
    '2026-03-20T09:00Z',
    '2026-03-20 09:00:00Z',
    '2026-03-20T09:00:00.Z',
    '2026-03-20T09:00:00.1234567890Z',
    '2026-03-20T09:00:00+01',
    '2026-03-20T09:00:00+0100',
    '2026-03-20T09:00:00+01:00:00',
    '2026-03-20T09:00:00+24:00',
    '2026-03-20T09:00:00+01:60',
    '2026-03-20T09:00:00Z[Europe/Oslo]',
    '2026-02-29T09:00:00Z',
    '2026-02-30T09:00:00',
    '2026-13-01T09:00:00Z',
    '2026-00-01T09:00:00Z',
    '2026-03-00T09:00:00Z',
    '2026-03-20T24:00:00Z',
    '2026-03-20T09:60:00Z',
    '2026-03-20T09:00:60',
    '2026-03-20T09:00:61Z',
    '1899-12-31T23:59:59Z',
    '2201-01-01T00:00:00Z',
    '+002026-03-20T09:00:00Z',
    ' 2026-03-20T09:00:00Z',
    '2026-03-20T09:00:00Z\n',
    '٢٠٢٦-03-20T09:00:00Z',
  ])('rejects %j', (text) => expect(isDateTime(text)).toBe(false));
});

describe('isLocalDateTime', () => {
  test.each(['2026-03-20T09:00:00', '2024-02-29T23:59:59'])('accepts %s', (text) => {
    expect(isLocalDateTime(text)).toBe(true);
  });

  test.each([
    '2026-03-20T09:00:00Z',
    '2026-03-20T09:00:00+01:00',
    '2026-03-20T09:00:00.0',
    '2026-03-20t09:00:00',
    '2026-03-20T09:00',
    '2026-02-29T09:00:00',
    '2026-03-20T24:00:00',
    '2026-03-20T23:59:60',
    '2026-03-20T09:00:00\n',
    '9999-03-20T09:00:00',
  ])('rejects %j', (text) => expect(isLocalDateTime(text)).toBe(false));
});

describe('isCareUnitDateTime', () => {
  test.each(['2026-03-20T09:00:00', '2026-03-20T09:00:00+01:00', '2026-03-20T09:00:00Z'])('takes %s', (text) => {
    expect(isCareUnitDateTime(text)).toBe(true);
  });

  test.each([
    '2026-03-20T09:00:00.0',
    '2026-03-20T09:00:00.0+01:00',
    '2026-03-20t09:00:00z',
    '2026-03-20T09:00:00+0100',
    '2026-03-20T09:00:00+24:00',
    '2026-02-29T09:00:00+01:00',
    '2026-03-20T24:00:00+01:00',
    '2026-03-20T09:00:00+01:00[Europe/Oslo]',
    '9999-03-20T09:00:00Z',
  ])('does not take %j', (text) => expect(isCareUnitDateTime(text)).toBe(false));
});

describe('hasOffsetOf', () => {
  test.each([
    ['Europe/Oslo', '2026-03-20T09:00:00'],
    ['Europe/Oslo', '2026-03-20T09:00:00+01:00'],
    ['Europe/Oslo', '2026-07-20T09:00:00+02:00'],
    ['Europe/London', '2026-03-20T09:00:00Z'],
    // Both occurrences of the repeated hour.
    ['Europe/Oslo', '2026-10-25T02:30:00+02:00'],
    ['Europe/Oslo', '2026-10-25T02:30:00+01:00'],
    ['Asia/Kathmandu', '2026-07-20T09:00:00+05:45'],
  ])('is true in %s for %s', (zone, text) => expect(hasOffsetOf(zone, text)).toBe(true));

  test.each([
    ['Europe/Oslo', '2026-03-20T09:00:00Z'],
    ['Europe/Oslo', '2026-03-20T09:00:00+02:00'],
    ['Europe/Oslo', '2026-03-20T09:00:00-01:00'],
    ['Europe/London', '2026-07-20T09:00:00Z'],
    // A local time that the clock skips, and the hours next to the repeated one.
    ['Europe/Oslo', '2026-03-29T02:30:00+01:00'],
    ['Europe/Oslo', '2026-03-29T02:30:00+02:00'],
    ['Europe/Oslo', '2026-10-25T01:59:59+01:00'],
    ['Europe/Oslo', '2026-10-25T03:00:00+02:00'],
  ])('is false in %s for %s', (zone, text) => expect(hasOffsetOf(zone, text)).toBe(false));
});

describe('toInstant', () => {
  test.each([
    ['2026-03-20T09:00:00', 'Europe/Oslo', '2026-03-20T08:00:00.000Z'],
    ['2026-07-20T09:00:00', 'Europe/Oslo', '2026-07-20T07:00:00.000Z'],
    ['2026-07-20T09:00:00', 'Asia/Kathmandu', '2026-07-20T03:15:00.000Z'],
    ['2026-03-20T09:00:00-05:00', 'Europe/Oslo', '2026-03-20T14:00:00.000Z'],
    ['2026-03-20t09:00:00.5z', 'Europe/Oslo', '2026-03-20T09:00:00.500Z'],
    // The clock shows this time twice: the first instant counts.
    ['2026-10-25T02:30:00', 'Europe/Oslo', '2026-10-25T00:30:00.000Z'],
    ['2026-10-25T01:30:00', 'Europe/London', '2026-10-25T00:30:00.000Z'],
    ['2026-10-25T02:30:00+01:00', 'Europe/Oslo', '2026-10-25T01:30:00.000Z'],
    // Just before and after the gap.
    ['2026-03-29T01:59:59', 'Europe/Oslo', '2026-03-29T00:59:59.000Z'],
    ['2026-03-29T03:00:00', 'Europe/Oslo', '2026-03-29T01:00:00.000Z'],
  ])('converts %s in %s', (text, zone, expected) => {
    expect(toInstant(text, zone).toISOString()).toBe(expected);
  });

  test.each([
    ['2026-03-29T02:00:00', 'Europe/Oslo'],
    ['2026-03-29T02:59:59.999', 'Europe/Oslo'],
    ['2026-03-29T01:30:00', 'Europe/London'],
    // Samoa skipped this day.
    ['2011-12-30T12:00:00', 'Pacific/Apia'],
  ])('rejects %s in %s', (text, zone) => {
    expect(() => toInstant(text, zone)).toThrow(NonexistentLocalTime);
  });
});

describe('formatInstant', () => {
  test.each([
    ['2026-03-20T08:00:00Z', 'Europe/Oslo', '2026-03-20T09:00:00+01:00'],
    ['2026-07-20T08:00:00Z', 'Europe/Oslo', '2026-07-20T10:00:00+02:00'],
    ['2026-03-20T08:00:00Z', 'Europe/London', '2026-03-20T08:00:00+00:00'],
    ['2026-03-20T08:00:00Z', 'UTC', '2026-03-20T08:00:00+00:00'],
    ['2026-03-20T08:00:00.999Z', 'Europe/Oslo', '2026-03-20T09:00:00+01:00'],
    ['2026-03-20T23:30:00Z', 'America/St_Johns', '2026-03-20T21:00:00-02:30'],
  ])('formats %s in %s', (instant, zone, expected) => {
    expect(formatInstant(new Date(instant), zone)).toBe(expected);
  });

  test('formats like Temporal, before and after every clock change too', () => {
    const anywhere = fc.integer({ min: Date.UTC(1900, 0, 2), max: Date.UTC(2199, 0, 1) });
    const nearChange = fc
      .tuple(fc.constantFrom(...zones), anywhere, fc.integer({ min: -2, max: 2 }))
      .map(([zone, at, beside]) => {
        const change = Temporal.Instant.fromEpochMilliseconds(at)
          .toZonedDateTimeISO(zone)
          .getTimeZoneTransition('next');
        return [zone, (change?.epochMilliseconds ?? at) + beside] as const;
      });
    fc.assert(
      fc.property(fc.oneof(fc.tuple(fc.constantFrom(...zones), anywhere), nearChange), ([timeZone, at]) => {
        const written = Temporal.Instant.fromEpochMilliseconds(at).toString({ timeZone, smallestUnit: 'second' });
        expect(formatInstant(new Date(at), timeZone)).toBe(written);
      }),
      { numRuns: 2000 },
    );
  });

  test('formats a date-time that is converted back to the same instant', () => {
    const seconds = fc.integer({ min: Date.UTC(1970, 0, 2) / 1000, max: Date.UTC(2199, 0, 1) / 1000 });
    fc.assert(
      fc.property(seconds, fc.constantFrom(...zones), (second, zone) => {
        const text = formatInstant(new Date(second * 1000), zone);
        expect(isDateTime(text)).toBe(true);
        expect(toInstant(text, 'UTC').getTime()).toBe(second * 1000);
        // Without its offset it is the same instant, or an hour earlier if the clock shows it twice.
        const local = text.slice(0, 19);
        expect(isLocalDateTime(local)).toBe(true);
        expect(second * 1000 - toInstant(local, zone).getTime()).toBeOneOf([0, 30 * 60_000, 3_600_000, 2 * 3_600_000]);
      }),
    );
  });
});

test.each([
  ['2026-11-22', 0, '2026-11-21T23:00:00.000Z'],
  ['2026-11-22', 1, '2026-11-22T23:00:00.000Z'],
  // The clock is set forward at 02:00.
  ['2026-03-29', 1, '2026-03-29T22:00:00.000Z'],
  ['2026-02-30', 0, undefined],
  ['2026-2-3', 0, undefined],
  ['', 0, undefined],
])('in Oslo, the day %s and %s more begins at %s', (day, later, expected) => {
  expect(startOfDay(day, 'Europe/Oslo', later)?.toISOString()).toBe(expected);
});

test('a day begins late where the clock is set forward at midnight, and early where it is set back', () => {
  expect(startOfDay('2026-09-06', 'America/Santiago')?.toISOString()).toBe('2026-09-06T04:00:00.000Z');
  expect(startOfDay('2026-10-31', 'America/Havana', 1)?.toISOString()).toBe('2026-11-01T04:00:00.000Z');
});

test('a date-time with an offset is taken, and is the instant, that Temporal says', () => {
  const two = (max: number) => fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, '0'));
  const year = fc.integer({ min: 1900, max: 2200 }).map(String);
  const fraction = fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,9}$/));
  const offset = fc.oneof(
    fc.constantFrom('Z', 'z', '-00:00'),
    fc.tuple(fc.constantFrom('+', '-'), two(25), two(61)).map(([sign, hours, minutes]) => `${sign}${hours}:${minutes}`),
  );
  const parts = fc.tuple(year, two(13), two(32), two(25), two(61), two(61), fraction, offset);
  fc.assert(
    fc.property(parts, ([year, month, day, hour, minute, second, fraction, offset]) => {
      const text = `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${offset}`;
      let expected: number | undefined;
      try {
        expected = Temporal.Instant.from(text.toUpperCase()).epochMilliseconds;
      } catch {
        // It is none.
      }
      expect(isDateTime(text)).toBe(expected !== undefined);
      if (expected !== undefined) expect(toInstant(text, 'Europe/Oslo').getTime()).toBe(expected);
    }),
    { numRuns: 1_000 },
  );
});
