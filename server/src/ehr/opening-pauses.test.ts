import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startOpening } from './opening.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const log = pino({ level: 'silent' });

test('an EHR that cannot be opened is tried again after 1, 2, 4 seconds, and so on up to 30', async () => {
  const attempts: number[] = [];
  const begun = Date.now();
  const opening = await startOpening(
    'clinic',
    async () => {
      attempts.push((Date.now() - begun) / 1000);
      throw new ConnectorError('unavailable', 'Simulated failure');
    },
    log,
  );
  expect(opening.retryAfterSeconds()).toBe(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(opening.retryAfterSeconds()).toBe(1);
  await vi.advanceTimersByTimeAsync(1000);
  expect(opening.retryAfterSeconds()).toBe(2);
  await vi.advanceTimersByTimeAsync(90_000);
  expect(attempts).toEqual([0, 1, 3, 7, 15, 31, 61, 91]);
  opening.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(attempts).toHaveLength(8);
});

test('a slow first attempt delays the start by at most five seconds', async () => {
  const open = Promise.withResolvers<Connector>();
  let isStarted = false;
  const start = startOpening('clinic', () => open.promise, log).then((opening) => {
    isStarted = true;
    return opening;
  });
  await vi.advanceTimersByTimeAsync(4900);
  expect(isStarted).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  const opening = await start;
  expect(opening.connector).toBeUndefined();
  expect(opening.retryAfterSeconds()).toBe(1);
  const connector = {} as Connector;
  open.resolve(connector);
  await vi.advanceTimersByTimeAsync(0);
  expect(opening.connector).toBe(connector);
});
