import { expect, test } from 'vitest';
import { Problem } from '../../problems/problem.ts';
import { nativeRange, readStarts, startsWithin } from './dates.ts';

const spanOf = (timeZone: string, ...values: string[]) => {
  const { from, until } = readStarts(values, 'date', timeZone);
  return [from?.toISOString(), until?.toISOString()];
};

test.each([
  // Clocks are set forward at midnight.
  ['America/Santiago', '2026-09-06', ['2026-09-06T04:00:00.000Z', '2026-09-07T03:00:00.000Z']],
  ['Asia/Beirut', '2026-03-29', ['2026-03-28T22:00:00.000Z', '2026-03-29T21:00:00.000Z']],
  ['Africa/Cairo', '2026-04-24', ['2026-04-23T22:00:00.000Z', '2026-04-24T21:00:00.000Z']],
  // Months and years that begin or end on such a day, and a day that a whole country skipped.
  ['America/Asuncion', '2023-10', ['2023-10-01T04:00:00.000Z', '2023-11-01T03:00:00.000Z']],
  ['America/Sao_Paulo', '2016-10-16', ['2016-10-16T03:00:00.000Z', '2016-10-17T02:00:00.000Z']],
  ['Pacific/Apia', '2011-12-30', ['2011-12-30T10:00:00.000Z', '2011-12-30T10:00:00.000Z']],
  ['Europe/Oslo', '2026', ['2025-12-31T23:00:00.000Z', '2026-12-31T23:00:00.000Z']],
  ['Europe/Oslo', '2028-02', ['2028-01-31T23:00:00.000Z', '2028-02-29T23:00:00.000Z']],
  // Minutes and seconds.
  ['Europe/Oslo', '2026-05-04T10:00', ['2026-05-04T08:00:00.000Z', '2026-05-04T08:01:00.000Z']],
  ['Europe/Oslo', '2026-05-04T10:00:00', ['2026-05-04T08:00:00.000Z', '2026-05-04T08:00:01.000Z']],
  ['Europe/Oslo', '2026-05-04T10:00:00.000+01:00', ['2026-05-04T09:00:00.000Z', '2026-05-04T09:00:01.000Z']],
  ['Europe/Oslo', '2026-05-04T10:00:00.500Z', ['2026-05-04T10:00:01.000Z', '2026-05-04T10:00:01.000Z']],
  // Times that the clocks skip.
  ['America/Santiago', '2026-09-06T00:00', ['2026-09-06T04:00:00.000Z', '2026-09-06T04:00:00.000Z']],
  ['Europe/Oslo', '2027-03-28T02:30:00', ['2027-03-28T01:00:00.000Z', '2027-03-28T01:00:00.000Z']],
  ['Australia/Lord_Howe', '2026-10-04T02:15', ['2026-10-03T15:30:00.000Z', '2026-10-03T15:30:00.000Z']],
  // Years that only FHIR has.
  ['Europe/Oslo', '9999-12-31', ['9999-12-31T00:00:00.000Z', '+010000-01-01T00:00:00.000Z']],
  ['Europe/Oslo', '9999', ['9999-01-01T00:00:00.000Z', '+010000-01-01T00:00:00.000Z']],
  ['Europe/Oslo', '0001-01-01T00:00:00Z', ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:01.000Z']],
  ['Europe/Oslo', '0001-02', ['0001-02-01T00:00:00.000Z', '0001-03-01T00:00:00.000Z']],
])('in %s %s is a span', (timeZone, value, expected) => {
  expect(spanOf(timeZone, value)).toEqual(expected);
});

test.each(['ge', 'gt', 'sa', 'lt', 'eb', 'le'])(
  '%s of a time that the clocks skip is before or after the change',
  (prefix) => {
    const starts = readStarts([`${prefix}2026-09-06T00:30`], 'date', 'America/Santiago');
    const isLater = ['ge', 'gt', 'sa'].includes(prefix);
    expect(startsWithin(starts, '2026-09-05T23:59:59-04:00')).toBe(!isLater);
    expect(startsWithin(starts, '2026-09-06T01:00:00-03:00')).toBe(isLater);
  },
);

test.each([
  '2026-02-30',
  '2026-13',
  '0000-01-01',
  '10000-01-01',
  '9999-02-29',
  '9999-12-31T24:00:00Z',
  '2026-01-01T10',
  '2026-01-01T10:00:00.Z',
  'tomorrow',
  '2026-01-01T25:00',
])('%s is rejected', (value) => {
  expect(() => readStarts([value], 'date', 'Europe/Oslo')).toThrow(Problem);
});

test('a native search looks in the years that it takes', () => {
  const rangeOf = (...values: string[]) => nativeRange(readStarts(values, 'date', 'Europe/Oslo'));
  expect(rangeOf('ge0001-01-01', 'le9999-12-31')).toEqual({ from: undefined, until: undefined });
  expect(rangeOf('ge2026-01-01', 'le9999')).toMatchObject({ from: new Date('2025-12-31T23:00:00Z'), until: undefined });
  for (const nothing of ['9999-12-31', '0001', 'lt1850-05-05', 'sa3000']) expect(rangeOf(nothing)).toBeUndefined();
  expect(rangeOf('2026-01-01', '2026-01-02')).toBeUndefined();
});
