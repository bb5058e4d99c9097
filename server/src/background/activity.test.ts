import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createActivity } from './activity.ts';
import { startDueJobs } from './due-jobs.ts';
import { startLoop } from './loop.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a process is idle after a minute without requests, and the next one wakes it', () => {
  const activity = createActivity();
  const woken = vi.fn();
  activity.onWake(woken);
  vi.advanceTimersByTime(60_000);
  expect(activity.isIdle()).toBe(false);
  activity.note();
  vi.advanceTimersByTime(60_001);
  expect(activity.isIdle()).toBe(true);
  expect(woken).not.toHaveBeenCalled();
  activity.note();
  activity.note();
  expect(activity.isIdle()).toBe(false);
  expect(woken).toHaveBeenCalledTimes(1);
});

test('an idle process looks less often for what is due, and at once when it is woken', async () => {
  const activity = createActivity();
  let looks = 0;
  const loop = startDueJobs({
    pauseMilliseconds: () => (activity.isIdle() ? 2_000 : 500),
    look: async () => void looks++,
    jobs: () => [],
  });
  activity.onWake(loop.wake);
  const during = async (milliseconds: number) => {
    looks = 0;
    await vi.advanceTimersByTimeAsync(milliseconds);
    return looks;
  };
  expect(await during(60_000)).toBe(120);
  await during(2_000);
  expect(await during(60_000)).toBe(30);
  activity.note();
  expect(await during(100)).toBe(1);
  expect(await during(10_000)).toBe(20);
  await loop.stop();
});

test('the pause of a job is what it is when a round ends', async () => {
  let pause = 1_000;
  let rounds = 0;
  const loop = startLoop(
    () => pause,
    async () => {
      rounds++;
      return false;
    },
  );
  pause = 5_000;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(rounds).toBe(1);
  await vi.advanceTimersByTimeAsync(4_999);
  expect(rounds).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(rounds).toBe(2);
  await loop.stop();
});
