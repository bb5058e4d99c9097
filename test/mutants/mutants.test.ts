import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';

test('the place of each mutant is in its file exactly once', async () => {
  for (const { of, name, file, from, to } of mutants) {
    const source = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
    expect(source.split(from).length - 1, `${of} ${name}`).toBe(1);
    expect(to, `${of} ${name}`).not.toBe(from);
  }
});

test('at most one mutant of twenty survives, and names differ', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(60);
  expect(mutants.filter(({ survives }) => survives !== undefined).length).toBeLessThanOrEqual(mutants.length / 20);
  const names = mutants.map(({ of, name }) => `${of} ${name}`);
  expect(new Set(names).size).toBe(names.length);
});
