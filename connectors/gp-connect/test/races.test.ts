import { expect, test } from 'vitest';
import type { FakeOptions } from '../fake/server.ts';
import { change, creation, freeSlot, openPractice } from './practice.ts';

const racers = 20;

/** How many get the slot. The others must be told that it is taken. */
async function race(options: FakeOptions = {}): Promise<number> {
  const opened = await openPractice(options);
  const slot = await freeSlot(opened);
  const outcomes = await Promise.allSettled(Array.from({ length: racers }, () => change(opened, creation(slot))));
  for (const it of outcomes) {
    if (it.status === 'rejected') expect(it.reason).toMatchObject({ kind: 'time_slot_unavailable' });
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
}

test('of twenty who want a slot, one gets it', async () => {
  expect(await race()).toBe(1);
});

test('a system without a lock, such as the demonstrator, books a slot more than once', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  const withoutLock = () => {
    if (++waiting === 2) resolve();
    return promise;
  };
  expect(await race({ withoutLock })).toBeGreaterThan(1);
});
