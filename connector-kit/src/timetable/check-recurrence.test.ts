import { RRuleTemporal } from 'rrule-temporal';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { checkRecurrence } from './check-recurrence.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const friday = '2027-01-01T08:00:00';
const check = (recurrence: string, localStart = friday) => checkRecurrence(localStart, recurrence, 'Europe/Oslo');
const tooLong = { fault: 'The recurrence must end within 10 years.' };

describe('the last occurrence', () => {
  test.each([
    ['FREQ=DAILY;COUNT=3653', '2036-12-31T07:00:00Z'],
    ['FREQ=WEEKLY;BYDAY=FR;UNTIL=20270709T080000', '2027-07-09T06:00:00Z'],
    ['FREQ=WEEKLY;BYDAY=FR;UNTIL=20270709T060000Z', '2027-07-09T06:00:00Z'],
    ['FREQ=WEEKLY;BYDAY=FR;UNTIL=20270709T055959Z', '2027-07-02T06:00:00Z'],
    ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,-1;COUNT=4', '2027-02-26T07:00:00Z'],
    ['FREQ=WEEKLY;INTERVAL=2;WKST=MO;BYDAY=FR,SU;COUNT=2', '2027-01-03T07:00:00Z'],
    ['FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=FR,SU;COUNT=2', '2027-01-10T07:00:00Z'],
    ['FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1;BYDAY=FR,SA;UNTIL=20361231T000000', '2033-01-01T07:00:00Z'],
    ['freq=weekly;count=2', '2027-01-08T07:00:00Z'],
  ])('of %s', (recurrence, last) => {
    expect(check(recurrence)).toEqual({ last: new Date(last) });
  });
});

test.each([
  ['FREQ=WEEKLY;BYDAY=FR;UNTIL=20270709', 'The value of UNTIL is invalid.'],
  ['FREQ=MONTHLY;BYDAY=5FR;COUNT=4', '`start_time` must be an occurrence of the recurrence.'],
  ['FREQ=WEEKLY;BYDAY=MO;COUNT=4', '`start_time` must be an occurrence of the recurrence.'],
  ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=4', '`start_time` must be an occurrence of the recurrence.'],
  ['FREQ=WEEKLY;UNTIL=20261231T000000', 'The recurrence has no occurrence: UNTIL is before `start_time`.'],
  ['FREQ=WEEKLY;BYDAY=1FR;COUNT=4', 'The recurrence is not a valid rule of RFC 5545.'],
  ['FREQ=DAILY;UNTIL=20370101T080001', tooLong.fault],
  ['FREQ=DAILY;COUNT=3655', tooLong.fault],
  // The library finds every 1 January, whichever day of the week it is.
  ['FREQ=YEARLY;BYYEARDAY=1;BYDAY=FR;COUNT=2', 'BYYEARDAY together with BYDAY or BYMONTHDAY is not supported.'],
  [
    'FREQ=YEARLY;BYMONTHDAY=1;BYDAY=1FR;COUNT=2',
    'BYMONTHDAY together with a numbered BYDAY such as 1MO is not supported with FREQ=YEARLY.',
  ],
])('rejects %s', (recurrence, fault) => {
  expect(check(recurrence)).toEqual({ fault });
});

test('does not look for occurrences beyond ten years', () => {
  // A time zone in a distant millennium takes the library seconds.
  const years: number[] = [];
  const { formatToParts } = Intl.DateTimeFormat.prototype;
  vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts').mockImplementation(function (
    this: Intl.DateTimeFormat,
    date,
  ) {
    years.push(new Date(Number(date)).getUTCFullYear());
    return formatToParts.call(this, date);
  });
  const recurrence = 'FREQ=YEARLY;INTERVAL=998;BYMONTH=2;BYMONTHDAY=29;COUNT=2';
  // No other test has asked for this time zone. Offsets that are known are not asked for again.
  expect(checkRecurrence('2028-02-29T08:00:00', recurrence, 'Pacific/Chatham')).toEqual(tooLong);
  expect(Math.max(...years)).toBeGreaterThan(2027);
  expect(Math.max(...years)).toBeLessThan(2100);
});

describe('the work', () => {
  /** The starts that the library found for each rule that was expanded. */
  function countStarts(): number[] {
    const found: number[] = [];
    const { all } = RRuleTemporal.prototype;
    vi.spyOn(RRuleTemporal.prototype, 'all').mockImplementation(function (this: RRuleTemporal, isWanted) {
      let starts = 0;
      const counted = (start: Parameters<NonNullable<typeof isWanted>>[0], index: number) => {
        starts++;
        return isWanted?.(start, index) ?? true;
      };
      const result = all.call(this, counted);
      found.push(starts);
      return result;
    });
    return found;
  }
  const numbers = (most: number) => Array.from({ length: most }, (_, index) => index + 1).join(',');
  const weekdays = 'BYDAY=MO,TU,WE,TH,FR,SA,SU';
  const tooMany = {
    fault:
      'A recurrence with BYMONTH, BYMONTHDAY, BYYEARDAY, BYWEEKNO or BYSETPOS, or with FREQ=YEARLY and BYDAY, must have at most 1000 occurrences.',
  };

  test.each([
    `FREQ=DAILY;BYMONTH=${numbers(12)}`,
    `FREQ=DAILY;BYMONTH=${numbers(12)};BYMONTHDAY=${numbers(31)};${weekdays}`,
    `FREQ=DAILY;${weekdays};BYSETPOS=1`,
    `FREQ=WEEKLY;${weekdays};BYMONTH=${numbers(12)}`,
    `FREQ=WEEKLY;${weekdays};BYSETPOS=${numbers(7)}`,
    `FREQ=MONTHLY;${weekdays};BYMONTHDAY=${numbers(31)};BYSETPOS=${numbers(31)}`,
    `FREQ=YEARLY;${weekdays};BYMONTH=${numbers(12)}`,
    `FREQ=YEARLY;${weekdays}`,
    `FREQ=YEARLY;BYYEARDAY=${numbers(110)}`,
  ])('of %s ends after 1000 occurrences', (rule) => {
    const found = countStarts();
    expect(check(`${rule};COUNT=1000`)).toHaveProperty('last');
    for (const end of ['COUNT=1001', 'COUNT=3660', 'UNTIL=20361231T080000']) {
      expect(check(`${rule};${end}`), end).toEqual(tooMany);
    }
    // One more than allowed, and the one at which the library stops.
    expect(Math.max(...found)).toBe(1002);
  });

  test('of a rule that never occurs ends with the first date', () => {
    const expanded = vi.spyOn(RRuleTemporal.prototype, 'all');
    expect(check(`FREQ=WEEKLY;${weekdays};BYSETPOS=366;COUNT=2`)).toEqual({
      fault: '`start_time` must be an occurrence of the recurrence.',
    });
    const ends = expanded.mock.contexts.map((rule) => (rule as RRuleTemporal).options().until?.toString());
    expect(ends).toEqual([expect.stringContaining('2027-01-01T')]);
  });

  test('is no reason to reject every day of ten years, or some of the months', () => {
    expect(check('FREQ=DAILY;UNTIL=20370101T080000')).toHaveProperty('last');
    expect(check(`FREQ=WEEKLY;${weekdays};UNTIL=20370101T080000`)).toHaveProperty('last');
    const withoutJuly = 'BYDAY=MO,TU,WE,TH,FR;BYMONTH=1,2,3,4,5,6,8,9,10,11,12';
    expect(check(`FREQ=WEEKLY;${withoutJuly};UNTIL=20310101T000000`)).toHaveProperty('last');
  });
});
