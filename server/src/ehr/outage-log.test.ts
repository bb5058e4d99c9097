import { ConnectorError } from '@crossward/connector-kit';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createOutageLog, type OutageLog } from './outage-log.ts';

let lines: Record<string, unknown>[] = [];
let outages: OutageLog;
const down = new ConnectorError('unavailable', 'Connection refused by 127.0.0.1:8095');

beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  outages = createOutageLog('north', log);
});
afterEach(() => {
  outages.stop();
  vi.useRealTimers();
});
const fail = (count: number) => {
  for (let done = 0; done < count; done++) outages.requestFailed(down);
};
const taken = () => lines.splice(0);

test('an outage has one line at its start, one a minute with the count of failed requests, and one at its end', () => {
  fail(5);
  expect(taken()).toEqual([]);
  outages.breakerChanged('open', down);
  const about = { emr: 'north', fault: 'connection refused by 127.0.0.1:8095' };
  expect(taken()).toEqual([{ level: 50, ...about, failed_requests: 5, breaker: 'open', msg: 'EHR unavailable' }]);
  fail(295);
  outages.breakerChanged('half_open');
  outages.breakerChanged('open', down);
  expect(taken()).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(taken()).toEqual([{ level: 50, ...about, failed_requests: 295, msg: 'EHR still unavailable' }]);
  vi.advanceTimersByTime(60_000);
  expect(taken()).toEqual([{ level: 50, ...about, failed_requests: 0, msg: 'EHR still unavailable' }]);
  fail(2);
  outages.breakerChanged('half_open');
  outages.breakerChanged('closed');
  expect(taken()).toEqual([
    { level: 30, emr: 'north', seconds: 120, failed_requests: 297, msg: 'EHR available again' },
  ]);
  vi.advanceTimersByTime(600_000);
  expect(taken()).toEqual([]);
});

test('requests that fail although the EHR is not counted as unavailable have one line a minute', () => {
  fail(3);
  vi.advanceTimersByTime(60_000);
  expect(taken()).toMatchObject([{ level: 50, failed_requests: 3, msg: 'requests to the EHR fail' }]);
  vi.advanceTimersByTime(60_000);
  expect(taken()).toEqual([]);
  fail(1);
  vi.advanceTimersByTime(60_000);
  expect(taken()).toMatchObject([{ failed_requests: 1 }]);
});
