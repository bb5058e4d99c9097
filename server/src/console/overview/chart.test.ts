import { expect, test } from 'vitest';
import { callsChart, latencyChart, sumUp } from './chart.ts';

const quiet = { calls: 0, failures: 0, median: null, p95: null };
const minutes = Array.from({ length: 60 }, (_, index) => ({ start: index * 60_000, ...quiet }));
const busy = minutes.map((minute, index) =>
  index < 57
    ? minute
    : { ...minute, calls: 10 * (index - 56), failures: index === 59 ? 15 : 0, median: index, p95: 200 },
);

test('an hour is summed up', () => {
  expect(sumUp(busy)).toEqual({ calls: 60, failures: 15, median: 58, slowest: 200 });
  expect(sumUp(minutes)).toEqual({ calls: 0, failures: 0, median: null, slowest: null });
});

test('one slow call does not make the hour look slow', () => {
  const quick = { start: 0, calls: 28, failures: 4, median: 17, p95: 150 };
  const slow = { start: 60_000, calls: 3, failures: 2, median: 7000, p95: 7000 };
  expect(sumUp([quick, slow])).toEqual({ calls: 31, failures: 6, median: 17, slowest: 7000 });
  expect(sumUp([slow, { ...slow, start: 120_000 }, { ...quick, calls: 5 }]).median).toBe(7000);
});

test('a chart has a bar for each minute with calls, scaled to an axis, and says its figures', () => {
  const { text } = callsChart(busy);
  expect(text).toContain('aria-label="Calls for each minute of the last hour: 60, of which 15 failed"');
  expect(text.match(/class="calls"/g)).toHaveLength(3);
  expect(text).toContain('0 to 50 a minute');
  expect(text).toContain('<rect class="calls" x="591" y="26" width="8" height="38"/>');
  expect(text).toContain('<rect class="failed" x="591" y="45" width="8" height="19"/>');
  expect(latencyChart(busy).text).toContain('<rect class="slow" x="591" y="0" width="8" height="64"/>');
});

test('a chart has an axis of at least 10 calls and 100 ms, so that one quick call looks small', () => {
  const one = minutes.map((minute, index) => (index === 59 ? { ...minute, calls: 1, median: 1, p95: 1 } : minute));
  expect(callsChart(one).text).toContain('0 to 10 a minute');
  expect(callsChart(one).text).toContain('<rect class="calls" x="591" y="58" width="8" height="6"/>');
  expect(latencyChart(one).text).toContain('0 to 100\u00a0ms');
  expect(latencyChart(one).text).toContain('<rect class="median" x="591" y="62" width="8" height="2"/>');
});

test('a chart without calls says so', () => {
  expect(latencyChart(minutes).text).toContain('aria-label="Latency in the last hour: no calls"');
  expect(callsChart(minutes).text).not.toContain('<rect');
});
