import { expect, test } from 'vitest';
import { endOfRange, isDayOrTime, startOfRange } from './ranges.ts';

const oslo = 'Europe/Oslo';

test.each([
  ['2030-03-15', '2030-03-15T00:00:00+01:00', '2030-03-16T00:00:00+01:00'],
  ['2030-03-15T09:00', '2030-03-15T09:00:00', '2030-03-15T09:00:00'],
  ['2030-03-15T09:00:00', '2030-03-15T09:00:00', '2030-03-15T09:00:00'],
  ['2030-03-15T09:00:00+01:00', '2030-03-15T09:00:00+01:00', '2030-03-15T09:00:00+01:00'],
  ['2030-03-15T09:00Z', '2030-03-15T09:00:00Z', '2030-03-15T09:00:00Z'],
  ['2030-03-15t09:00:00.5z', '2030-03-15T09:00:00.5z', '2030-03-15T09:00:00.5z'],
  // Days with 23 and 25 hours.
  ['2030-03-31', '2030-03-31T00:00:00+01:00', '2030-04-01T00:00:00+02:00'],
  ['2030-10-27', '2030-10-27T00:00:00+02:00', '2030-10-28T00:00:00+01:00'],
])('%s is taken', (text, start, end) => {
  expect(isDayOrTime(text)).toBe(true);
  expect([startOfRange(text, oslo), endOfRange(text, oslo)]).toEqual([start, end]);
});

test('a day without midnight begins later', () => {
  expect(startOfRange('2030-09-08', 'America/Santiago')).toBe('2030-09-08T01:00:00-03:00');
  expect(endOfRange('2030-09-07', 'America/Santiago')).toBe('2030-09-08T01:00:00-03:00');
});

test.each([
  '2030-02-30',
  '2030-13-01',
  '2030-02-30T09:00',
  '2030-03-15T25:00',
  '2030-03-15T24:00',
  '2030-03-15T09',
  '2030-03-15T09:00+25:00',
  '2030-03-15 09:00',
  '15.03.2030',
  'tomorrow',
  '9999-12-31',
  '',
])('%j is no day and no time', (text) => {
  expect(isDayOrTime(text)).toBe(false);
});
