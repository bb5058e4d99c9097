import { expect, inject, test } from 'vitest';
import { check } from './check.ts';
import type { History } from './history.ts';
import { runRound } from './round.ts';

/** How soon events come depends on the speed of the machine: `npm run test:cuts` reports it. */
const findingsIn = (history: History) => check(history).filter(({ fault }) => fault !== 'late event');
/** Milliseconds. A busy machine does all of it, only later. */
const timeout = 1_200_000;
const round = (cuts: number) =>
  runRound({
    folder: inject('runFolder'),
    postgresUrl: inject('postgresUrl'),
    seed: 1,
    cuts,
    // Each caller makes several writes.
    quietMilliseconds: 5_000,
  });

test('what callers are told agrees with what is there, although connections to the database are cut', {
  timeout,
}, async () => {
  const { history, cutsByWay } = await round(60);
  expect(cutsByWay.length).toBeGreaterThanOrEqual(60);
  expect(findingsIn(history)).toEqual([]);
});

test('and if nothing is cut', { timeout }, async () => {
  const { history } = await round(0);
  expect(history.writes.length).toBeGreaterThan(30);
  expect(history.writes.filter(({ told }) => told === 'unknown')).toEqual([]);
  expect(findingsIn(history)).toEqual([]);
});
