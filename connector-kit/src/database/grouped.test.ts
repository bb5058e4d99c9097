import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { grouped } from './grouped.ts';

const db = {};
const rejected = new Error('rejected');
const lost = new Error('lost');

/** Groups whose first statement ends when the test says so. `taken` is rejected in any group, `cut` loses its connection. */
function observed(runAlone?: (db: object, input: string) => Promise<string>) {
  const first = Promise.withResolvers<void>();
  const statements: (readonly string[])[] = [];
  const add = grouped({
    async run(_db: object, inputs: readonly string[]) {
      statements.push(inputs);
      if (statements.length === 1) await first.promise;
      if (inputs.includes('taken')) throw rejected;
      if (inputs.includes('cut')) throw lost;
      return inputs.map((input) => input.toUpperCase());
    },
    ...(runAlone ? { runAlone } : {}),
    keyOf: (input: string) => input,
    isOfOneInput: (error) => error === rejected,
  });
  return { statements, add: (input: string) => add(db, input), endFirst: first.resolve };
}

/** Adds the first input in a turn of the event loop of its own, and the others while its statement is under way. */
async function addBehind([first, ...others]: readonly [string, ...string[]], add: (input: string) => Promise<string>) {
  const ahead = add(first);
  await new Promise((resolve) => setImmediate(resolve));
  return [ahead, ...others.map(add)];
}

const outcomes = async (rows: readonly Promise<string>[]) =>
  (await Promise.allSettled(rows)).map((row) => (row.status === 'fulfilled' ? row.value : row.reason));

test('each input of a rejected group is run alone, and fails alone', async () => {
  const alone: string[] = [];
  const { statements, add, endFirst } = observed(async (_db, input) => {
    alone.push(input);
    if (input === 'taken') throw rejected;
    return `${input} alone`;
  });
  const rows = await addBehind(['first', 'a', 'taken', 'b'], add);
  endFirst();
  expect(await outcomes(rows)).toEqual(['FIRST', 'a alone', rejected, 'b alone']);
  expect(statements).toEqual([['first'], ['a', 'b', 'taken']]);
  expect(alone).toEqual(['a', 'b', 'taken']);
});

test('a lone input that is rejected is run alone too', async () => {
  const { add, endFirst } = observed(async (_db, input) => `${input} alone`);
  endFirst();
  expect(await add('taken')).toBe('taken alone');
});

test('nothing is run again after a failure that concerns the whole group', async () => {
  const { add, endFirst } = observed(() => Promise.reject(new Error('run again')));
  const rows = await addBehind(['first', 'a', 'cut'], add);
  endFirst();
  expect(await outcomes(rows)).toEqual(['FIRST', lost, lost]);
});

test('inputs without keys go together, in the order in which they came', async () => {
  const statements: (readonly string[])[] = [];
  const add = grouped({
    async run(_db: object, inputs: readonly string[]) {
      statements.push(inputs);
      return inputs;
    },
    isOfOneInput: () => false,
  });
  expect(await Promise.all(['b', 'a', 'b'].map((input) => add(db, input)))).toEqual(['b', 'a', 'b']);
  expect(statements).toEqual([['b', 'a', 'b']]);
});

test('a statement runs in the asynchronous context of no input', async () => {
  const context = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const add = grouped({
    async run(_db: object, inputs: readonly string[]) {
      seen.push(context.getStore());
      return inputs;
    },
    // Two statements: one that an input sends, and one that the end of the other sends.
    keyOf: () => 'one key',
    isOfOneInput: () => false,
  });
  await Promise.all(['a', 'b'].map((input) => context.run(input, () => add(db, input))));
  expect(seen).toEqual([undefined, undefined]);
});
