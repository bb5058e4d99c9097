import { expect, test } from 'vitest';
import { quotaSeconds, retryAfterSeconds } from './retry-after.ts';

const now = Date.UTC(2026, 2, 20, 8, 0, 0);

test.each([
  ['0', 0],
  ['120', 120],
  ['Fri, 20 Mar 2026 08:00:30 GMT', 30],
  ['Friday, 20-Mar-26 08:00:30 GMT', 30],
  ['Fri, 20 Mar 2026 07:59:00 GMT', 0],
  ['', undefined],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['12345678901234567890', undefined],
  [undefined, undefined],
])('%j means %s seconds', (value, seconds) => {
  expect(retryAfterSeconds(value, now)).toBe(seconds);
});

test.each([
  ['"requests";r=57121;t=27, "searches";r=0;t=40', 40],
  ['"requests";r=0;t=27, "searches"; r=0; t=4', 27],
  ['"requests";t=3;r=0', 3],
  ['"requests";r=10;t=27', undefined],
  ['"requests";r=0', undefined],
  ['"requests";r=0;t=-1', undefined],
  ['limit=10', undefined],
  [undefined, undefined],
])('quota %j is exhausted for %s seconds', (value, seconds) => {
  expect(quotaSeconds(value)).toBe(seconds);
});
