import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { closeWhenIdle } from './close-when-idle.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function newLink() {
  const link = { isIdle: vi.fn(() => true), close: vi.fn(async () => undefined), closed: vi.fn() };
  return { link, retired: closeWhenIdle(link, link.closed) };
}

test('a connection is closed after ten minutes without a call, and not while one runs', () => {
  const { link } = newLink();
  link.isIdle.mockReturnValue(false);
  vi.advanceTimersByTime(60 * 60_000);
  expect(link.close).not.toHaveBeenCalled();
  link.isIdle.mockReturnValue(true);
  vi.advanceTimersByTime(9 * 60_000);
  expect(link.close).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2 * 60_000);
  expect([link.close.mock.calls.length, link.closed.mock.calls.length]).toEqual([1, 1]);
  vi.advanceTimersByTime(60 * 60_000);
  expect(link.close).toHaveBeenCalledTimes(1);
});

test('it is closed at once when the gateway stops', async () => {
  const { link, retired } = newLink();
  await retired.close();
  expect(link.close).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(60 * 60_000);
  expect(link.close).toHaveBeenCalledTimes(1);
});
