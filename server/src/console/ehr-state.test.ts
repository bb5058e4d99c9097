import { expect, test } from 'vitest';
import { type EhrFigures, mergeFigures } from '../ehr/figures.ts';
import { scopeOf, stateBadge } from './ehr-state.ts';

const processIn = (state: EhrFigures['state'], lastSuccessAt: number | null = null) => ({
  a: { state, lastSuccessAt, minutes: [] },
});
const textOf = (states: readonly EhrFigures['state'][], hasWorkers = true) => {
  const { text } = stateBadge(
    mergeFigures(
      states.map((state) => processIn(state)),
      'a',
    ),
    hasWorkers,
  );
  return text.replace(/<[^>]+>/g, '|').replace(/\|+/g, '|');
};

test.each([
  [['closed'], '|Available|'],
  [['open'], '|Circuit breaker open|'],
  [['half_open'], '|Circuit breaker testing|'],
  [['not_connected'], '|Not connected yet|'],
] as const)('one process in the state %j is shown as %s', (states, text) => {
  expect(textOf(states, false)).toBe(text);
});

test.each([
  [['closed', 'closed'], '|Available|'],
  [['open', 'closed'], '|Circuit breaker open in 1 of 2 workers|'],
  [['open', 'open'], '|Circuit breaker open in all 2 workers|'],
  [
    ['half_open', 'open', 'not_connected'],
    '|Not connected yet in 1 of 3 workers|Circuit breaker open in 1 of 3 workers|Circuit breaker testing in 1 of 3 workers|',
  ],
  [[], '|Not known|'],
] as const)('workers in the states %j are shown as %s', (states, text) => {
  expect(textOf(states)).toBe(text);
});

test('the last success of any process counts, and an EHR that no process knows has none', () => {
  const processes = [processIn('closed', 5), processIn('open'), processIn('closed', 9)];
  expect(mergeFigures(processes, 'a').lastSuccessAt).toBe(9);
  expect(mergeFigures(processes, 'b')).toMatchObject({ states: new Map(), lastSuccessAt: null });
});

test('the page says which processes the figures are of', () => {
  const processes = [processIn('closed'), processIn('closed')];
  expect(scopeOf({ processes: processes.slice(1) })).toContain('as seen by this gateway since its start.');
  expect(scopeOf({ workers: 2, processes })).toContain('as seen by all 2 workers of this gateway');
  expect(scopeOf({ workers: 3, processes })).toContain(
    '2 of 3 workers of this gateway since their start; the rest did not',
  );
});
