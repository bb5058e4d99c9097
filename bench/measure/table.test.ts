import { expect, test } from 'vitest';
import type { Result } from './bench.ts';
import { describe, toMarkdown } from './table.ts';

const ratio: Result = {
  name: 'read',
  measure: 'requests/s ÷ one SELECT',
  value: { median: 0.71234, lowest: 0.6, highest: 0.8 },
  reach: { atLeast: 0.7 },
  details: { 'requests/s': 9876.5, 'p50 ms': 3 },
};
const memory: Result = { name: 'memory', measure: 'MiB', value: 170, reach: { atMost: 160 }, details: {} };

test('A line shows the median, the range of the rounds, and the further figures', () => {
  expect(describe(ratio)).toBe(
    'read: 0.712 (0.6 to 0.8) reached   [requests/s ÷ one SELECT, reach ≥ 0.7]\n    requests/s 9877, p50 ms 3\n',
  );
  expect(describe(memory)).toBe('memory: 170 NOT reached   [MiB, reach ≤ 160]\n');
});

test('The table has one row for each line', () => {
  expect(toMarkdown([ratio, memory]).split('\n').slice(2)).toEqual([
    '| read | requests/s ÷ one SELECT | 0.712 | 0.6 to 0.8 | ≥ 0.7 | yes |',
    '| memory | MiB | 170 |  | ≤ 160 | **no** |',
    '',
  ]);
});
