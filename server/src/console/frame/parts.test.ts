import { expect, test } from 'vitest';
import { counted, duration } from './parts.ts';

test.each([
  [0, '0 s'],
  [0.4, '0 s'],
  [17, '17 s'],
  [59.7, '1 min'],
  [77, '1 min 17 s'],
  [3600, '1 h'],
  [3660, '1 h 1 min'],
  [86_400, '1 day'],
  [2 * 86_400 + 3 * 3600 + 59, '2 days 3 h'],
])('%s seconds are %s', (seconds, text) => {
  expect(duration(seconds).replaceAll('\u00a0', ' ')).toBe(text);
});

test('a number of one has the singular', () => {
  expect([0, 1, 2].map((count) => counted(count, 'message'))).toEqual(['0 messages', '1 message', '2 messages']);
  expect([1, 2].map((count) => counted(count, 'delivery', 'deliveries'))).toEqual(['1 delivery', '2 deliveries']);
});
