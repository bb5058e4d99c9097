import { expect, test } from 'vitest';
import { mergeMinutes, recordCalls } from './call-history.ts';

const metrics = {
  observe: () => undefined,
  watchBreaker: () => undefined,
  throttled: () => undefined,
  watchRate: () => undefined,
};

test('keeps sixty minutes, each with its calls, failures and latency', () => {
  let now = Date.UTC(2026, 10, 22, 12, 30, 10);
  const recorded = recordCalls(metrics, () => now);
  const observe = (outcome: 'ok' | 'timeout' | 'circuit_open' | 'rejected', ms: number, emr = 'a') =>
    recorded.metrics.observe(emr, 'listTimeSlots', outcome, ms / 1000);
  const hourOf = (emr: string) => mergeMinutes([recorded.history.of(emr)], () => now);
  for (let count = 0; count < 9; count++) observe('ok', 10);
  observe('rejected', 100);
  observe('circuit_open', 0);
  observe('ok', 5, 'b');

  const [latest] = hourOf('a').slice(-1);
  expect(hourOf('a')).toHaveLength(60);
  expect(latest).toEqual({
    start: Date.UTC(2026, 10, 22, 12, 30),
    calls: 11,
    failures: 1,
    median: expect.toSatisfy((ms: number) => ms >= 10 && ms <= 15),
    p95: expect.toSatisfy((ms: number) => ms >= 100 && ms <= 150),
  });

  now += 59 * 60_000;
  observe('timeout', 30_000);
  const later = hourOf('a');
  expect(later.map(({ calls }) => calls).filter((calls) => calls > 0)).toEqual([11, 1]);
  expect([later[0]?.calls, later.at(-1)?.failures]).toEqual([11, 1]);
  expect(later.at(-1)?.p95).toBeGreaterThanOrEqual(30_000);
  expect(later[30]).toMatchObject({ calls: 0, median: null, p95: null });

  // The same place of the ring, an hour later.
  now += 60_000;
  expect(hourOf('a').reduce((sum, { calls }) => sum + calls, 0)).toBe(1);
  observe('ok', 1);
  expect(hourOf('a').at(-1)).toMatchObject({ calls: 1, failures: 0, median: 1 });
});

test('adds up the minutes of several processes, whose latency counts by their calls', () => {
  const now = () => Date.UTC(2026, 10, 22, 12, 30, 10);
  const processes = [10, 1000].map((ms, index) => {
    const { metrics: it, history } = recordCalls(metrics, now);
    for (let count = 0; count < (index === 0 ? 30 : 10); count++) it.observe('a', 'listTimeSlots', 'ok', ms / 1000);
    it.observe('a', 'listTimeSlots', 'timeout', 1);
    return history;
  });
  const merged = (count: number) =>
    mergeMinutes(
      processes.slice(0, count).map((it) => it.of('a')),
      now,
    ).at(-1);
  expect(merged(2)).toMatchObject({ calls: 42, failures: 2 });
  // Three of four calls took 10 ms, and the slowest one of twenty a second.
  expect(merged(2)?.median).toBe(merged(1)?.median);
  expect(merged(2)?.p95).toBeGreaterThanOrEqual(1000);
  expect(mergeMinutes([], now)).toHaveLength(60);
  expect(mergeMinutes([processes[0]?.of('unknown') ?? []], now).at(-1)).toMatchObject({ calls: 0, median: null });
});
