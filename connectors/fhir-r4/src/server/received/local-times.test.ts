import { describe, expect, test } from 'vitest';
import { isTimeZone, localTimes } from './local-times.ts';

const zone = 'Europe/Oslo';

/** What an element reads as, and how many moments without an offset it has. */
function read(element: string, text: string, timeZone: string | undefined = zone) {
  let seen = 0;
  const found = localTimes(timeZone, () => seen++)(element, text);
  return [found, seen];
}

describe('a moment without an offset', () => {
  test.each([
    ['start', '2031-02-03T08:00:00', '2031-02-03T08:00:00+01:00'],
    ['end', '2031-07-03T08:00:00.000', '2031-07-03T08:00:00.000+02:00'],
    ['lastUpdated', '2031-07-03T08:00', '2031-07-03T08:00+02:00'],
    ['valueDateTime', '2031-07-03T23:59:59', '2031-07-03T23:59:59+02:00'],
    // The end of an appointment in the last hour before the clocks go on.
    ['end', '2031-03-30T02:00:00', '2031-03-30T01:00:00Z'],
    ['end', '2031-03-30T02:30:00', '2031-03-30T01:00:00Z'],
    ['end', '2031-10-26T02:30:00', '2031-10-26T02:30:00+02:00'],
  ])('%s %s is read as %s', (element, text, expected) => {
    expect(read(element, text)).toEqual([expected, 1]);
    expect(localTimes(undefined, () => undefined)(element, text)).toBe(text);
  });

  test.each(['2031-03-30T02:30:00', '2031-10-26T02:30:00', '2031-02-30T08:00:00', '2031-02-03T25:00:00'])(
    'that is none, or could be two, is not guessed: %s',
    (text) => {
      expect(read('start', text)).toEqual([text, 1]);
    },
  );
});

test.each([
  ['start', '2031-02-03T08:00:00Z'],
  ['start', '2031-02-03T08:00:00-05:00'],
  ['start', '2031-02-03'],
  ['birthDate', '2031-02-03T08:00:00'],
  ['comment', '2031-02-03T08:00:00'],
])('%s %s stays as it is', (element, text) => {
  expect(read(element, text)).toEqual([text, 0]);
});

test.each([
  ['Europe/Oslo', true],
  ['UTC', true],
  ['Europe/Nowhere', false],
  ['', false],
])('%s is a time zone: %s', (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});
