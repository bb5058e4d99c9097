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
