import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AttemptLog, createAttemptLog } from './attempt-log.ts';

let lines: Record<string, unknown>[] = [];
let attempts: AttemptLog<'sms' | 'email'>;
const refused = { reason: 'connection_refused', cause: 'connection refused by 127.0.0.1:8099' };
const busy = { reason: 'http_503', cause: 'status 503 from 127.0.0.1:8099' };

beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  attempts = createAttemptLog(log, { subject: 'channel', failing: 'attempts fail', again: 'sent again' });
});
afterEach(() => {
  attempts.stop();
  vi.useRealTimers();
});
const taken = () => lines.splice(0);
const fails = (count: number, failure: object = refused) => {
  for (let done = 0; done < count; done++) attempts.failed('sms', failure);
};
const warning = (failure: object, count: number) => ({
  level: 40,
  channel: 'sms',
  ...failure,
  failed_attempts: count,
  msg: 'attempts fail',
});

test('an outage of a provider has one line at its start, one a minute with the count, and one at its end', () => {
  fails(25);
  expect(taken()).toEqual([warning(refused, 1)]);
  vi.advanceTimersByTime(60_000);
  expect(taken()).toEqual([warning(refused, 24)]);
  fails(10, busy);
  attempts.succeeded('email');
  vi.advanceTimersByTime(60_000);
  expect(taken()).toEqual([warning(busy, 10)]);
  // Nothing is tried.
  vi.advanceTimersByTime(600_000);
  expect(taken()).toEqual([]);
  attempts.succeeded('sms');
  vi.advanceTimersByTime(30_000);
  attempts.succeeded('sms');
  vi.advanceTimersByTime(30_000);
  expect(taken()).toEqual([{ level: 30, channel: 'sms', seconds: 720, failed_attempts: 35, msg: 'sent again' }]);
  vi.advanceTimersByTime(600_000);
  expect(taken()).toEqual([]);
  fails(1);
  expect(taken()).toEqual([warning(refused, 1)]);
});

test('a provider that takes every other message has one line a minute', () => {
  for (let minute = 0; minute < 3; minute++) {
    for (let count = 0; count < 50; count++) {
      fails(1);
      attempts.succeeded('sms');
    }
    vi.advanceTimersByTime(60_000);
  }
  expect(taken()).toEqual([1, 49, 50, 50].map((count) => warning(refused, count)));
  vi.advanceTimersByTime(60_000);
  expect(taken()).toMatchObject([{ msg: 'sent again', failed_attempts: 150 }]);
});

test('what is no longer tried is forgotten after a day', () => {
  fails(2);
  vi.advanceTimersByTime(60_000);
  expect(taken()).toEqual([warning(refused, 1), warning(refused, 1)]);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(25 * 60 * 60_000);
  expect(vi.getTimerCount()).toBe(0);
  attempts.succeeded('sms');
  expect(taken()).toEqual([]);
});
