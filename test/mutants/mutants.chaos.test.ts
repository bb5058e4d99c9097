import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';
import { tryMutants } from './try-mutants.ts';

/** Of connectors whose fakes are fast, one of so many: all of them take more than an hour. */
const fast = ['template', 'template-booking', 'gp-connect'];
const every = 4;
/** Without a mutant, the tests of the connectors prove the rest. These show that the copy runs. */
const unchanged = ['patients'];

test('the kit catches a sample of the mutants', { timeout: 3_600_000 }, async () => {
  const lines: string[] = [];
  const sample = mutants.filter(({ of }) => fast.includes(of)).filter((_, index) => index % every === 0);
  expect(await tryMutants(sample, (line) => lines.push(line), unchanged), lines.join('\n')).toEqual([]);
});
