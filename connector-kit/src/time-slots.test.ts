import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coversWithoutGap, overlaps } from './time-slots.ts';

const range = (start: number, end: number) => ({ start: new Date(start), end: new Date(end) });
const someRange = fc
  .tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 10 }))
  .map(([start, length]) => range(start, start + length));

describe('coversWithoutGap', () => {
  test.each([
    ['one slot', [range(0, 3)], range(0, 3), true],
    ['slots in any order', [range(6, 9), range(0, 3), range(3, 6)], range(0, 9), true],
    ['slots in the middle of others', [range(0, 3), range(3, 6), range(6, 9), range(9, 12)], range(3, 9), true],
    ['slots of different lengths', [range(0, 2), range(0, 3), range(2, 4), range(3, 6)], range(0, 4), true],
    ['no slots', [], range(0, 3), false],
    ['a gap', [range(0, 3), range(4, 6)], range(0, 6), false],
    ['first slot starts too late', [range(1, 3)], range(0, 3), false],
    ['first slot starts too early', [range(0, 3)], range(1, 3), false],
    ['last slot ends too early', [range(0, 3)], range(0, 4), false],
    ['last slot ends too late', [range(0, 3), range(3, 6)], range(0, 5), false],
    ['an empty range', [range(0, 3)], range(0, 0), false],
    ['a range that ends before it starts', [range(0, 3)], range(3, 0), false],
  ])('%s', (_, slots, wanted, expected) => {
    expect(coversWithoutGap(slots, wanted)).toBe(expected);
  });

  test('ignores the order of slots and slots outside the range', () => {
    fc.assert(
      fc.property(fc.array(someRange, { maxLength: 12 }), someRange, fc.func(fc.integer()), (slots, wanted, weight) => {
        const shuffled = slots.toSorted((a, b) => weight(a) - weight(b));
        expect(coversWithoutGap(shuffled, wanted)).toBe(coversWithoutGap(slots, wanted));
        const elsewhere = [...slots, range(100, 110), range(110, 120)];
        expect(coversWithoutGap(elsewhere, wanted)).toBe(coversWithoutGap(slots, wanted));
      }),
    );
  });

  test('a regular grid covers a range on its boundaries unless a slot is missing', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 7 }),
        fc.nat(),
        fc.nat(),
        (count, length, from, missing) => {
          const grid = Array.from({ length: count }, (_, index) => range(index * length, (index + 1) * length));
          const first = from % count;
          const wanted = range(first * length, count * length);
          expect(coversWithoutGap(grid, wanted)).toBe(true);
          const without = grid.filter((_, index) => index !== missing % count);
          expect(coversWithoutGap(without, wanted)).toBe(missing % count < first);
          expect(coversWithoutGap(grid, { ...wanted, end: new Date(wanted.end.getTime() + 1) })).toBe(false);
        },
      ),
    );
  });
});

describe('overlaps', () => {
  test.each([
    [range(0, 3), range(3, 6), false],
    [range(0, 3), range(2, 6), true],
    [range(0, 9), range(3, 6), true],
    [range(3, 6), range(3, 6), true],
    [range(0, 3), range(7, 9), false],
  ])('%j and %j', (a, b, expected) => {
    expect(overlaps(a, b)).toBe(expected);
    expect(overlaps(b, a)).toBe(expected);
  });

  test('is true exactly when the ranges share an instant', () => {
    fc.assert(
      fc.property(someRange, someRange, (a, b) => {
        const instants = ({ start, end }: typeof a) =>
          Array.from({ length: end.getTime() - start.getTime() }, (_, index) => start.getTime() + index);
        const inB = new Set(instants(b));
        expect(overlaps(a, b)).toBe(instants(a).some((it) => inB.has(it)));
      }),
    );
  });
});
