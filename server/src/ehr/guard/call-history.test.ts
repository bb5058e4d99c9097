import { ConnectorError } from '@crossward/connector-kit';
import { expect, test } from 'vitest';
import { recordCalls } from './call-history.ts';

const metrics = {
  observe: () => undefined,
  throttled: () => undefined,
  watch: () => undefined,
  forget: () => undefined,
};

test('keeps sixty minutes, each with its calls, failures and latency', () => {
  let now = Date.UTC(2026, 10, 22, 12, 30, 10);
  const recorded = recordCalls(metrics, () => new Date(now));
  const observe = (outcome: 'ok' | 'timeout' | 'circuit_open' | 'rejected', ms: number, emr = 'a') =>
    recorded.metrics.observe(emr, 'listTimeSlots', outcome, ms / 1000);
  const hourOf = (emr: string) => recorded.history.of(emr);
  for (let count = 0; count < 9; count++) observe('ok', 10);
  observe('rejected', 100);
  observe('circuit_open', 0);
  observe('ok', 5, 'b');

  const [latest] = hourOf('a').slice(-1);
  expect(hourOf('a')).toHaveLength(60);
  expect(latest).toEqual({
    start: Date.UTC(2026, 10, 22, 12, 30),
    calls: 10,
    failures: 0,
    median: expect.toSatisfy((ms: number) => ms >= 10 && ms <= 15),
    p95: expect.toSatisfy((ms: number) => ms >= 100 && ms <= 150),
  });

  now += 59 * 60_000;
  observe('timeout', 30_000);
  const later = hourOf('a');
  expect(later.map(({ calls }) => calls).filter((calls) => calls > 0)).toEqual([10, 1]);
  expect([later[0]?.calls, later.at(-1)?.failures]).toEqual([10, 1]);
  expect(later.at(-1)?.p95).toBeGreaterThanOrEqual(30_000);
  expect(later[30]).toMatchObject({ calls: 0, median: null, p95: null });

  // The same place of the ring, an hour later.
  now += 60_000;
  expect(hourOf('a').reduce((sum, { calls }) => sum + calls, 0)).toBe(1);
  observe('ok', 1);
  expect(hourOf('a').at(-1)).toMatchObject({ calls: 1, failures: 0, median: 1 });
});

test('the latency of a minute counts by its calls', () => {
  const { metrics: it, history } = recordCalls(metrics, () => new Date(Date.UTC(2026, 10, 22, 12, 30, 10)));
  for (let count = 0; count < 30; count++) it.observe('a', 'listTimeSlots', 'ok', 0.01);
  const median = history.of('a').at(-1)?.median;
  for (let count = 0; count < 10; count++) it.observe('a', 'listTimeSlots', 'ok', 1);
  // Three of four calls took 10 ms, and the slowest one of twenty a second.
  expect(history.of('a').at(-1)).toMatchObject({ calls: 40, median });
  expect(history.of('a').at(-1)?.p95).toBeGreaterThanOrEqual(1000);
  expect(history.of('unknown')).toHaveLength(60);
  expect(history.of('unknown').at(-1)).toMatchObject({ calls: 0, median: null, p95: null });
});

test('keeps the last failed calls with their cause, and counts the calls of each operation', () => {
  let now = Date.UTC(2026, 10, 22, 12, 30, 10);
  const { metrics: it, history } = recordCalls(metrics, () => new Date(now));
  const refused = Object.assign(new Error('secret'), { code: 'ECONNREFUSED', address: '127.0.0.1', port: 8095 });
  it.observe('a', 'findPatient', 'unavailable', 0.0214, new ConnectorError('unavailable', 'Down', { cause: refused }));
  for (let count = 0; count < 30; count++) it.observe('a', 'findPatient', 'circuit_open', 0, new Error('open'));
  it.observe('a', 'listTimeSlots', 'rejected', 0.1, new ConnectorError('rejected', 'No'));
  it.observe('a', 'listTimeSlots', 'ok', 0.1);
  it.observe('a', 'open', 'error', 1, new Error('secret'));
  it.observe('b', 'findPatient', 'timeout', 5, new ConnectorError('timeout', 'No result in time'));

  const at = new Date(now);
  expect(history.failed('a')).toEqual([
    { at, operation: 'open', outcome: 'error', cause: 'the connector has a bug: see the log', milliseconds: 1000 },
    {
      at,
      operation: 'findPatient',
      outcome: 'unavailable',
      cause: 'connection refused by 127.0.0.1:8095',
      milliseconds: 21,
    },
  ]);
  expect(history.failed('b')).toMatchObject([{ cause: 'no result in time' }]);
  expect(history.failed('unknown')).toEqual([]);
  expect(history.operations('a')).toEqual([
    { operation: 'listTimeSlots', calls: 2, failures: 0 },
    { operation: 'findPatient', calls: 1, failures: 1 },
  ]);

  now += 60 * 60_000;
  expect(history.operations('a')).toEqual([]);
  for (let count = 0; count < 25; count++) it.observe('a', 'findPatient', 'timeout', count, new Error('secret'));
  expect(history.failed('a')).toHaveLength(20);
  expect(history.failed('a')[0]?.milliseconds).toBe(24_000);

  it.forget('a');
  expect(history.failed('a')).toEqual([]);
  expect(history.of('a').at(-1)).toMatchObject({ calls: 0 });
});
