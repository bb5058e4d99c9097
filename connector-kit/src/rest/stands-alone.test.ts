import { expect, test } from 'vitest';
import { standsAlone } from './stands-alone.ts';

interface Booking {
  readonly id: string;
  readonly at: number;
}
const made = { id: 'b', at: 2 };
const [earlier, later] = [
  { id: 'a', at: 1 },
  { id: 'c', at: 3 },
];

function looksAt(...seen: readonly (readonly Booking[])[]) {
  let looks = 0;
  const read = async () => seen[Math.min(looks++, seen.length - 1)] ?? [];
  return { read, keyOf: ({ at, id }: Booking) => [at, id], looks: () => looks };
}

test.each([
  ['alone', [[made]], 1, true],
  ['alone, and not shown yet', [[]], 1, true],
  ['after another one', [[earlier, made]], 1, false],
  ['made at the same moment as one with a lower id', [[{ id: 'a', at: 2 }, made]], 1, false],
  ['beside another one, with two places', [[earlier, made]], 2, true],
  ['third, with two places', [[earlier, { id: 'a2', at: 1 }, made]], 2, false],
  ['before another one, which leaves', [[made, later], [made, later], [made]], 1, true],
  ['before another one, which stays', [[made, later]], 1, false],
] as const)('a booking that is %s', async (_, seen, places, stands) => {
  expect(await standsAlone<Booking>(made, { ...looksAt(...seen), places })).toBe(stands);
});

test('one that must leave looks once', async () => {
  const look = looksAt([earlier, made]);
  await standsAlone<Booking>(made, { ...look, places: 1 });
  expect(look.looks()).toBe(1);
});
