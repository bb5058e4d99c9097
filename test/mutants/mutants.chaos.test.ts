import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';
import { tryMutants } from './try-mutants.ts';

/** One of so many: all of them take most of an hour. */
const every = 9;

test('the kit catches a sample of the mutants', { timeout: 3_600_000 }, async () => {
  const lines: string[] = [];
  const sample = mutants.filter((_, index) => index % every === 0);
  expect(await tryMutants(sample, (line) => lines.push(line)), lines.join('\n')).toEqual([]);
});
