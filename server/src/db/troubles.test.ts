import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { notWritten, watchTroubles } from './troubles.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp() {
  const lines: unknown[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const registry = new Registry();
  return { lines, registry, watch: watchTroubles(log, registry) };
}
const failure = (code: string) => Object.assign(new Error('the words of the server'), { code });

test.each([
  ['53100', 'disk_full'],
  ['25006', 'read_only'],
  ['53300', 'too_many_connections'],
  ['08P01', 'pooler'],
] as const)('%s is told once when it begins, and once when it is over', async (code, trouble) => {
  const { lines, registry, watch } = setUp();
  for (let seconds = 0; seconds < 300; seconds += 5) {
    watch.failed(failure(code));
    vi.advanceTimersByTime(5_000);
  }
  expect(lines).toEqual([{ trouble, code, fault: expect.stringMatching(/\w/), level: 50, msg: 'the database fails' }]);
  expect(watch.current()).toBe(trouble);
  expect(watch.since(trouble)).toBeInstanceOf(Date);
  expect(await registry.metrics()).toContain(`crossward_database_trouble{trouble="${trouble}"} 1`);
  vi.advanceTimersByTime(120_000);
  expect(lines.slice(1)).toEqual([{ trouble, seconds: 295, level: 30, msg: 'the database works again' }]);
  expect(watch.current()).toBeUndefined();
  expect(await registry.metrics()).toContain(`crossward_database_trouble{trouble="${trouble}"} 0`);
});

test('other errors of the database are no trouble of it', () => {
  const { lines, watch } = setUp();
  for (const error of [failure('23505'), failure('40001'), failure('ECONNREFUSED'), new Error('timeout'), undefined])
    watch.failed(error);
  expect([lines, watch.current()]).toEqual([[], undefined]);
});

test('a full disk and a standby take no writes, and a lack of connections passes', () => {
  expect(notWritten('disk_full')).toContain('bookings and other writes');
  expect(notWritten('read_only')).toContain('audit trail');
  expect([notWritten('too_many_connections'), notWritten('pooler'), notWritten(undefined)]).toEqual([[], [], []]);
});
