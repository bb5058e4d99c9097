import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type DueJob, startDueJobs } from './due-jobs.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Starts jobs that are due when `due` has their names. */
function start(due: Set<string>, jobs: readonly (Partial<DueJob<ReadonlySet<string>>> & { readonly name: string })[]) {
  const rounds: string[] = [];
  const looks = { count: 0, fail: false };
  const loop = startDueJobs<ReadonlySet<string>>({
    pauseMilliseconds: 500,
    async look() {
      looks.count++;
      if (looks.fail) throw new Error('the database is away');
      return new Set(due);
    },
    jobs: () =>
      jobs.map(({ name, ...job }) => ({
        id: name,
        pauseMilliseconds: 500,
        isDue: (found) => found.has(name),
        async round() {
          rounds.push(name);
          return false;
        },
        failed: () => rounds.push(`${name} failed`),
        ...job,
      })),
  });
  onTestFinished(() => loop.stop());
  return { rounds, looks, loop };
}

test('a job runs only while a look says that it is due, and one look serves all', async () => {
  const due = new Set<string>();
  const { rounds, looks } = start(due, [{ name: 'a' }, { name: 'b' }]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(rounds).toEqual([]);
  expect(looks.count).toBe(20);
  due.add('b');
  await vi.advanceTimersByTimeAsync(500);
  expect(rounds).toEqual(['b']);
});

test('after a round it looks again soon, and the job itself rests', async () => {
  const due = new Set(['a']);
  const round = async () => {
    due.delete('a');
    due.add('b');
    return false;
  };
  const { rounds } = start(due, [
    { name: 'a', round },
    { name: 'b', pauseMilliseconds: 1_000 },
  ]);
  await vi.advanceTimersByTimeAsync(600);
  expect(rounds).toEqual(['b']);
  // Due all the time.
  await vi.advanceTimersByTimeAsync(10_000);
  expect(rounds.length).toBeGreaterThanOrEqual(9);
  expect(rounds.length).toBeLessThanOrEqual(11);
});

test('a job that has more to do goes on at once', async () => {
  let left = 5;
  const { rounds } = start(new Set(['a']), [{ name: 'a', round: async () => --left > 0 }, { name: 'b' }]);
  await vi.advanceTimersByTimeAsync(510);
  expect([left, rounds]).toEqual([0, []]);
});

test('a slow job delays no other', async () => {
  const slow = Promise.withResolvers<boolean>();
  const { rounds } = start(new Set(['a', 'b']), [{ name: 'a', round: () => slow.promise }, { name: 'b' }]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(rounds.length).toBeGreaterThanOrEqual(3);
  slow.resolve(false);
});

test('a job that failed is due again, and without a look all jobs are', async () => {
  let fails = true;
  const due = new Set(['a']);
  const round = async () => {
    if (fails) throw new Error('failed');
    rounds.push('a');
    return false;
  };
  const { rounds, looks } = start(due, [{ name: 'a', round }, { name: 'b' }]);
  await vi.advanceTimersByTimeAsync(510);
  due.clear();
  fails = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(rounds).toEqual(['a failed', 'a']);
  looks.fail = true;
  await vi.advanceTimersByTimeAsync(510);
  expect(rounds.slice(2)).toEqual(['a', 'b']);
});

test('stopping waits for the current rounds, and begins no other', async () => {
  const slow = Promise.withResolvers<boolean>();
  const { loop, looks } = start(new Set(['a']), [{ name: 'a', round: () => slow.promise }]);
  await vi.advanceTimersByTimeAsync(600);
  const before = looks.count;
  let hasStopped = false;
  const stopping = loop.stop().then(() => {
    hasStopped = true;
  });
  await vi.advanceTimersByTimeAsync(5_000);
  expect([hasStopped, looks.count]).toEqual([false, before]);
  slow.resolve(true);
  await stopping;
});

test('a job that is added runs, one that is removed runs no more, and the others keep their rest', async () => {
  const due = new Set(['a', 'b']);
  const jobs = [{ name: 'a', pauseMilliseconds: 60_000 }];
  const { rounds } = start(due, jobs);
  await vi.advanceTimersByTimeAsync(600);
  expect(rounds).toEqual(['a']);
  jobs.push({ name: 'b', pauseMilliseconds: 500 });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(rounds.filter((name) => name === 'a')).toEqual(['a']);
  expect(rounds.filter((name) => name === 'b').length).toBeGreaterThanOrEqual(2);
  jobs.splice(1);
  const before = rounds.length;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(rounds.slice(before)).toEqual([]);
});
