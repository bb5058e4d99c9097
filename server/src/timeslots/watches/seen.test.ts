import { expect, test } from 'vitest';
import type { KeptSlot } from '../../slot-search/kept.ts';
import type { UnitSearch } from '../../slot-search/progress.ts';
import type { FoundSlots } from '../../slot-search/search.ts';
import { compareSeen, type Seen } from './seen.ts';

const unit = (id: string) => ({ ehr: { id: 'north' }, careUnit: { id } }) as UnitSearch;
const [one, two] = [unit('one'), unit('two')];
const at = (time: number): KeptSlot => [time, time + 30, 'r-1', 'consultation', null];

/** Slots by care unit, and those that did not answer. */
function answer(slots: readonly (readonly [UnitSearch, number])[], ...silent: UnitSearch[]): FoundSlots {
  const found = slots.map(([its, time]) => ({ unit: its, slot: at(time), askedAt: 0, resource: undefined }));
  const unanswered = silent.map((its) => ({ unit: its, reason: 'ehr_timeout', detail: '' }) as never);
  return { found, unanswered };
}

/** The starts of what each look finds that was not there before. */
function freshOf(...looks: readonly FoundSlots[]): number[][] {
  let seen: Seen = {};
  return looks.map((look) => {
    const compared = compareSeen(seen, [one, two], look, 3);
    // As it is stored.
    seen = JSON.parse(JSON.stringify(compared.seen));
    return compared.fresh.map(({ slot }) => slot[0]);
  });
}

test('what the first look finds was there before, and what a later one adds was not', () => {
  expect(
    freshOf(
      answer([[one, 10]]),
      answer([[one, 10]]),
      answer([
        [one, 10],
        [two, 20],
      ]),
    ),
  ).toEqual([[], [], [20]]);
});

test('a time that was taken and becomes free again is found again', () => {
  expect(freshOf(answer([[one, 10]]), answer([]), answer([[one, 10]]))).toEqual([[], [], [10]]);
});

test('what a care unit shows when it answers for the first time was there before', () => {
  expect(
    freshOf(
      answer([], two),
      answer([[two, 10]]),
      answer([
        [two, 10],
        [two, 20],
      ]),
    ),
  ).toEqual([[], [], [20]]);
});

test('a care unit that does not answer loses nothing, and is told of by what it adds afterwards', () => {
  const looks = [
    answer([
      [one, 10],
      [two, 20],
    ]),
    answer([[one, 10]], two),
    answer([
      [one, 10],
      [two, 20],
      [two, 30],
    ]),
  ];
  expect(freshOf(...looks)).toEqual([[], [], [30]]);
});

test('times that move up among the first ones were there before', () => {
  const full = answer([
    [one, 10],
    [one, 20],
    [one, 30],
    [one, 40],
  ]);
  expect(
    freshOf(
      full,
      answer([
        [one, 10],
        [one, 30],
        [one, 40],
        [one, 50],
      ]),
    ),
  ).toEqual([[], []]);
  expect(
    freshOf(
      full,
      answer([
        [one, 5],
        [one, 10],
        [one, 20],
        [one, 30],
      ]),
    ),
  ).toEqual([[], [5]]);
});
