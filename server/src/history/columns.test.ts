import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatInstant } from '../time/date-times.ts';
import { type Column, lastDays, lastHours } from './columns.ts';

const zones = ['Europe/Oslo', 'America/Santiago', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia', 'UTC'];
const hours = ({ from, until }: Column) => (until.getTime() - from.getTime()) / 3_600_000;
const local = (zone: string) => (columns: readonly Column[]) => columns.map(({ from }) => formatInstant(from, zone));

test('an hour is an hour, also when clocks change: one is shown twice in autumn, and one is missing in spring', () => {
  const autumn = lastHours(new Date('2026-10-25T04:10:00Z'), 'Europe/Oslo');
  expect(local('Europe/Oslo')(autumn).slice(-6)).toEqual([
    '2026-10-25T01:00:00+02:00',
    '2026-10-25T02:00:00+02:00',
    '2026-10-25T02:00:00+01:00',
    '2026-10-25T03:00:00+01:00',
    '2026-10-25T04:00:00+01:00',
    '2026-10-25T05:00:00+01:00',
  ]);
  const spring = lastHours(new Date('2026-03-29T03:10:00Z'), 'Europe/Oslo');
  expect(local('Europe/Oslo')(spring).slice(-4)).toEqual([
    '2026-03-29T01:00:00+01:00',
    '2026-03-29T03:00:00+02:00',
    '2026-03-29T04:00:00+02:00',
    '2026-03-29T05:00:00+02:00',
  ]);
});

test('a day is as long as the clocks make it', () => {
  const days = lastDays(new Date('2026-10-25T23:30:00Z'), 'Europe/Oslo');
  expect(local('Europe/Oslo')(days).slice(-2)).toEqual(['2026-10-25T00:00:00+02:00', '2026-10-26T00:00:00+01:00']);
  expect(days.map(hours).slice(-2)).toEqual([25, 24]);
  expect(lastDays(new Date('2026-03-29T12:00:00Z'), 'Europe/Oslo').map(hours).at(-1)).toBe(23);
  expect(local('Asia/Kathmandu')(lastDays(new Date('2026-03-29T18:14:59Z'), 'Asia/Kathmandu')).at(-1)).toBe(
    '2026-03-29T00:00:00+05:45',
  );
});

test('columns follow each other, begin with a quarter of an hour, and the last one contains the present', () => {
  const instants = fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2090, 0, 1) });
  fc.assert(
    fc.property(instants, fc.constantFrom(...zones), fc.constantFrom(lastHours, lastDays), (at, zone, columnsOf) => {
      const columns = columnsOf(new Date(at), zone);
      expect(columns).toHaveLength(columnsOf === lastHours ? 24 : 30);
      for (const [index, { from, until }] of columns.entries()) {
        expect(from.getTime() % 900_000).toBe(0);
        expect(until).toEqual(columns[index + 1]?.from ?? until);
      }
      const last = columns.at(-1);
      expect(last && last.from.getTime() <= at && at < last.until.getTime()).toBe(true);
      expect(at - (columns[0]?.from.getTime() ?? 0)).toBeLessThan(30.1 * 86_400_000);
    }),
  );
});
