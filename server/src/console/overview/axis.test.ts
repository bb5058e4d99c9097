import fc from 'fast-check';
import { expect, test } from 'vitest';
import { axisEnd } from './chart.ts';

test.each([
  [0, 5, 5],
  [5, 5, 5],
  [6, 5, 10],
  [11, 5, 20],
  [21, 5, 50],
  [51, 5, 100],
  [1, 100, 100],
  [1999, 100, 2000],
])('an axis for up to %d, of at least %d, ends at %d', (highest, least, end) => {
  expect(axisEnd(highest, least)).toBe(end);
});

test('an axis has room for the highest value, and is at most two and a half times as long', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), fc.constantFrom(1, 5, 10, 100), (highest, least) => {
      const end = axisEnd(highest, least);
      expect(end).toBeGreaterThanOrEqual(Math.max(highest, least));
      expect(end).toBeLessThanOrEqual(2.5 * Math.max(highest, least));
    }),
  );
});
