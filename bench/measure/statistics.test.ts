import { expect, test } from 'vitest';
import { inverse, median, spread } from './statistics.ts';

test('The median of an odd number of values is the one in the middle', () => {
  expect(median([9, 1, 5])).toBe(5);
});

test('The median of an even number of values is the mean of the two in the middle', () => {
  expect(median([4, 1, 10, 2])).toBe(3);
});

test('A spread has the median and the extremes, in any order of the values', () => {
  expect(spread([0.5, 0.2, 0.4])).toEqual({ median: 0.4, lowest: 0.2, highest: 0.5 });
});

test('The inverse of a spread swaps its extremes', () => {
  expect(inverse({ median: 0.5, lowest: 0.25, highest: 1 })).toEqual({ median: 2, lowest: 1, highest: 4 });
});
