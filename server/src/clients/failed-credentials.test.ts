import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createFailedCredentials } from './failed-credentials.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('incorrect credentials', () => {
  test('are throttled with increasing delays after too many', () => {
    const credentials = createFailedCredentials(3);
    for (let count = 0; count < 3; count++) expect(credentials.failed('192.0.2.1', 'acme')).toBe(0);
    for (const pause of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]) {
      expect(credentials.failed('192.0.2.1', 'acme')).toBe(pause * 1000);
      vi.advanceTimersByTime(pause * 1000 - 1);
      expect(credentials.failed('192.0.2.1', 'acme')).toBe(1);
      vi.advanceTimersByTime(1);
      expect(credentials.failed('192.0.2.1', 'acme')).toBe(0);
    }
  });

  test('are counted per address and per client id', () => {
    const credentials = createFailedCredentials(2);
    for (const clientId of ['a', 'b']) expect(credentials.failed('192.0.2.1', clientId)).toBe(0);
    expect(credentials.failed('192.0.2.1', 'c')).toBe(1000);
    expect(credentials.failed('192.0.2.2', 'c')).toBe(0);
    expect(credentials.failed('192.0.2.3', 'c')).toBe(0);
    expect(credentials.failed('192.0.2.4', 'c')).toBe(1000);
    expect(credentials.failed('192.0.2.4', 'd')).toBe(0);
  });

  test('expire', () => {
    const credentials = createFailedCredentials(1);
    expect(credentials.failed('192.0.2.1', 'acme')).toBe(0);
    expect(credentials.failed('192.0.2.1', 'acme')).toBe(1000);
    vi.advanceTimersByTime(15 * 60_000);
    expect(credentials.failed('192.0.2.1', 'acme')).toBe(0);
    expect(credentials.failed('192.0.2.1', 'acme')).toBe(1000);
  });

  test('of the least recent senders are evicted', () => {
    const credentials = createFailedCredentials(1);
    expect(credentials.failed('192.0.2.1', 'acme')).toBe(0);
    for (let count = 0; count < 10_000; count++) credentials.failed(`2001:db8:${count.toString(16)}::/64`, `c${count}`);
    expect(credentials.failed('192.0.2.1', 'acme')).toBe(0);
  });
});
