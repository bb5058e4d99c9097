import { expect, test } from 'vitest';
import { inTurns, turnsInProcess } from './in-turn.ts';

test('work of one key runs in its order, also after a failure', async () => {
  const inTurn = turnsInProcess();
  const log: string[] = [];
  const work =
    (name: string, fails = false) =>
    async () => {
      log.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const all = [inTurn('k', work('a', true)), inTurn('k', work('b')), inTurn('k', work('c'))];
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('several keys are taken in one order, each once', async () => {
  const inTurn = turnsInProcess();
  const swapped = [
    inTurns(inTurn, ['a', 'b', 'a'], async () => 1),
    inTurns(inTurn, ['b', 'a'], async () => 2),
    inTurns(inTurn, [], async () => 3),
  ];
  expect(await Promise.all(swapped)).toEqual([1, 2, 3]);
});
