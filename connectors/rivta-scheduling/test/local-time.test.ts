import { localInstants } from '@crossward/connector-kit/rest';
import { expect, test } from 'vitest';
import { bookedPeriod, freePeriod, localDate, type RepeatedHour, readLocalTime } from '../src/local-time.ts';

const zone = 'Europe/Stockholm';
const instants = (text: string) => {
  const local = readLocalTime(text);
  return local && localInstants(zone, local.toString());
};
const at = (text: string) => new Date(`2031-${text}Z`);

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
  '203101010860',
])('does not read %j, which the calendar does not have', (text) => {
  expect(readLocalTime(text)).toBeUndefined();
});

test('reads a time without seconds', () => {
  expect(instants('203101010800')).toEqual([at('01-01T07:00:00')]);
});

test('29 February exists in a leap year only', () => {
  expect(instants('20320229080000')).toEqual([new Date('2032-02-29T07:00:00Z')]);
  expect(instants('20310229080000')).toBeUndefined();
});

test('a skipped hour has no instants, a repeated one has two', () => {
  expect(instants('20310330023000')).toEqual([]);
  expect(instants('20311026023000')).toEqual([new Date('2031-10-26T00:30:00Z'), new Date('2031-10-26T01:30:00Z')]);
});

const repeated: readonly (readonly [RepeatedHour, string, string, [string, string] | undefined])[] = [
  ['first', '20311026023000', '20311026030000', ['00:30', '02:00']],
  ['second', '20311026023000', '20311026030000', ['01:30', '02:00']],
  ['refuse', '20311026023000', '20311026030000', undefined],
  // Its end can only be in the second of the two hours.
  ['first', '20311026024500', '20311026021500', ['00:45', '01:15']],
  ['second', '20311026024500', '20311026021500', ['00:45', '01:15']],
  ['refuse', '20311026030000', '20311026033000', ['02:00', '02:30']],
];
test.each(repeated)('with the rule %s, a free time from %s to %s is %j', (rule, start, end, expected) => {
  const period = expected?.map((it) => at(`10-26T${it}:00`));
  expect(freePeriod(start, end, zone, rule)).toEqual(period ? { start: period[0], end: period[1] } : 'not offered');
});

test('the start of a time before the repeated hour is certain, and so is its end', () => {
  expect(freePeriod('20311026013000', '20311026020000', zone, 'refuse')).toEqual({
    start: at('10-25T23:30:00'),
    end: at('10-26T00:00:00'),
  });
});

test('a booking is never left out because of the hour in which it starts', () => {
  const [start, end] = ['20311026023000', '20311026030000'];
  expect(bookedPeriod(start, end, zone, 'refuse')).toEqual(freePeriod(start, end, zone, 'first'));
  expect(bookedPeriod('20310330023000', '20310330033000', zone, 'refuse')).toEqual({
    start: at('03-30T01:00:00'),
    end: at('03-30T01:30:00'),
  });
});

test('an end in the hour that spring skips is the instant at which the clocks go on', () => {
  const change = at('03-30T01:00:00');
  for (const end of ['20310330020000', '20310330023000', '20310330030000']) {
    const period = { start: at('03-30T00:30:00'), end: change };
    expect(freePeriod('20310330013000', end, zone, 'refuse')).toEqual(period);
    expect(bookedPeriod('20310330013000', end, zone, 'refuse')).toEqual(period);
  }
  expect(freePeriod('20310330020000', '20310330030000', zone, 'first')).toBe('not offered');
});

test.each([
  ['before it', '20310101083000'],
  ['at it', '20310101090000'],
  ['at no time', '20310231090000'],
  ['at an unknown time', undefined],
])('what starts at a time and ends %s is no free time, and a booking without an end', (_, end) => {
  const start = '20310101090000';
  expect(freePeriod(start, end, zone, 'first')).toBeUndefined();
  expect(bookedPeriod(start, end, zone, 'first')).toEqual({ start: at('01-01T08:00:00'), end: null });
});

test('without a start there is neither', () => {
  for (const start of [undefined, '20310231080000']) {
    expect(freePeriod(start, '20310101083000', zone, 'first')).toBeUndefined();
    expect(bookedPeriod(start, '20310101083000', zone, 'first')).toBeUndefined();
  }
});
