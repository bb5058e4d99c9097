import { expect, test } from 'vitest';
import { fillBlocks } from './blocks.ts';
import type { SavedRun } from './table.ts';

const figures = {
  'requests/s': 1234.5,
  'p50 ms': 2,
  'gateway CPU ms': 0.25,
  'database CPU ms': 0.1,
  statements: 1,
  commits: 0,
};
const run: SavedRun = {
  at: '2026-01-02T03:04:05.678Z',
  commit: 'abc1234',
  machine: { processors: 2, model: 'CPU', memoryGib: 8, node: 'v24.0.0', postgresql: '18.0' },
  results: [
    { bench: 'read', name: 'reading', measure: 'ratio', value: 0.5, reach: { atLeast: 0.4 }, details: figures },
    { bench: 'book', name: 'booking', measure: 'ratio', value: 0.3, reach: { atLeast: 0.4 }, details: {} },
  ],
};

test('A block contains the benchmarks that it names, and the text around it stays', () => {
  const text = fillBlocks('before\n<!-- bench read -->\nold\n<!-- /bench -->\nafter\n', run);
  expect(text).toContain('before\n<!-- bench read -->\n2026-01-02, commit abc1234, 2 processors (CPU), 8 GiB');
  expect(text).toContain('| reading |');
  expect(text).not.toContain('| booking |');
  expect(text).not.toContain('old');
  expect(text).toMatch(/<!-- \/bench -->\nafter\n$/);
  expect(fillBlocks(text, run)).toBe(text);
});

test('A block without names contains all benchmarks, and each block is filled for itself', () => {
  const text = fillBlocks('<!-- bench -->\n<!-- /bench -->\n\n<!-- bench book -->\n<!-- /bench -->\n', run);
  expect(text.match(/\| reading \|/g)).toHaveLength(1);
  expect(text.match(/\| booking \|/g)).toHaveLength(2);
});

test('A block of figures contains what a request costs, where it was measured', () => {
  const text = fillBlocks('<!-- bench figures -->\n<!-- /bench -->\n', run);
  expect(text).toContain('| reading | 1235 | 2 | 0.25 | 0.1 | 1 | 0 |\n');
  expect(text).not.toContain('booking');
});

test('A block of first lines contains one line of each benchmark that it names', () => {
  const again = run.results.map((result) => ({ ...result, name: `${result.name} again` }));
  const text = fillBlocks('<!-- bench first book -->\n<!-- /bench -->\n', {
    ...run,
    results: [...run.results, ...again],
  });
  expect(text).toContain('| booking |');
  expect(text).not.toMatch(/again|reading/);
});
