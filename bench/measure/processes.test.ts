import { expect, test } from 'vitest';
import { parseUsage } from './processes.ts';

test('Processor time counts user and system time of the process and of its ended children', () => {
  const stat = '42 (node (1)) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 7 3 20 0 11 0 12345 1 2 3';
  const status = 'Name:\tnode\nVmHWM:\t  200 kB\nVmRSS:\t  100 kB\n';
  expect(parseUsage(stat, status)).toEqual({ cpuMilliseconds: 3100, residentBytes: 102_400 });
});
