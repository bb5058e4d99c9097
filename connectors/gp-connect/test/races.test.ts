import { expect, test } from 'vitest';
import { parallelSchedule } from '../fake/data-set.ts';
import type { FakeOptions } from '../fake/server.ts';
import { change, creation, freeSlot, type Opened, openPractice } from './practice.ts';

const racers = 20;

/** How many get the slot. The others must be told that it is taken. */
async function race(options: FakeOptions = {}): Promise<number> {
  return raceFor(await openPractice(options));
}

async function raceFor(opened: Opened): Promise<number> {
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

test('of twenty who want a practitioner with two schedules at the time, two get a slot, one in each', async () => {
  const opened = await openPractice({ moreSchedules: [parallelSchedule] });
  expect(await raceFor(opened)).toBe(2);
  const booked = opened.practice.appointments.all();
  expect(booked.map(({ slots: [slot] }) => slot?.schedule.id).sort()).toEqual(['1', '5']);
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
