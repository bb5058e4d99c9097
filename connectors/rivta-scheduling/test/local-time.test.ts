import { ConnectorError } from '@crossward/connector-kit';
import { expect, test } from 'vitest';
import { instantsOf, localDate, periodOf, type RepeatedHour } from '../src/local-time.ts';

const zone = 'Europe/Stockholm';

test('writes the date on the wall', () => {
  expect(localDate(new Date('2031-07-01T22:30:05Z'), zone)).toBe('20310702');
  expect(localDate(new Date('2031-01-01T22:59:59Z'), zone)).toBe('20310101');
});

test.each([
  '20310200080000',
  '20310231080000',
  '20310132080000',
  '20311301080000',
  '20310101240000',
  '20310101086000',
  '2031010108000',
  '2031-01-01T08:00',
  '',
])('rejects %j, which the calendar does not have', (text) => {
  expect(() => instantsOf(text, zone)).toThrow(ConnectorError);
});

test('29 February exists in a leap year only', () => {
  expect(instantsOf('20320229080000', zone)).toEqual([new Date('2032-02-29T07:00:00Z')]);
  expect(() => instantsOf('20310229080000', zone)).toThrow(ConnectorError);
});

test('a skipped hour has no instants, a repeated one has two', () => {
  expect(instantsOf('20310330023000', zone)).toEqual([]);
  expect(instantsOf('20311026023000', zone)).toEqual([
    new Date('2031-10-26T00:30:00Z'),
    new Date('2031-10-26T01:30:00Z'),
  ]);
});

test.each<[RepeatedHour, string, string, [string, string] | undefined]>([
  ['first', '20311026023000', '20311026030000', ['00:30', '02:00']],
  ['second', '20311026023000', '20311026030000', ['01:30', '02:00']],
  ['refuse', '20311026023000', '20311026030000', undefined],
  // Its end can only be in the second of the two hours.
  ['first', '20311026024500', '20311026021500', ['00:45', '01:15']],
  ['second', '20311026024500', '20311026021500', ['00:45', '01:15']],
  // The start is certain.
  ['refuse', '20311026013000', '20311026020000', ['-00:30', '00:00']],
  ['refuse', '20311026030000', '20311026033000', ['02:00', '02:30']],
])('with the rule %s, %s to %s is %j', (rule, start, end, expected) => {
  const at = (text: string) => {
    const [, sign = '', hours, minutes] = /^(-?)(\d\d):(\d\d)$/.exec(text) ?? [];
    const elapsed = (Number(hours) * 60 + Number(minutes)) * 60_000;
    return new Date(Date.parse('2031-10-26T00:00:00Z') + (sign ? -elapsed : elapsed));
  };
  expect(periodOf(start, end, zone, rule)).toEqual(expected && { start: at(expected[0]), end: at(expected[1]) });
});

test('rejects a period that ends before it starts, and one in the skipped hour', () => {
  expect(() => periodOf('20310101090000', '20310101083000', zone, 'first')).toThrow(ConnectorError);
  expect(() => periodOf('20310330023000', '20310330030000', zone, 'first')).toThrow(ConnectorError);
});
