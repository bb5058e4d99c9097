import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { errorLog } from './error-log.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function levels() {
  const seen: string[] = [];
  const report = errorLog({ warn: () => seen.push('warn'), error: () => seen.push('error') });
  return { seen, report: () => report(new Error('no connection')) };
}

test('a single failure is a warning', () => {
  const { seen, report } = levels();
  for (let count = 0; count < 3; count++) {
    report();
    vi.advanceTimersByTime(60_000);
  }
  expect(seen).toEqual(['warn', 'warn', 'warn']);
});

test('repeated failures are an error, logged every 30 seconds', () => {
  const { seen, report } = levels();
  for (let second = 0; second < 40; second++) {
    report();
    vi.advanceTimersByTime(1_000);
  }
  expect(seen).toEqual(['warn', 'error', 'error']);
});
