import os from 'node:os';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { createDatabaseClock } from './clock.ts';
import { createDb } from './kysely.ts';

const { database, dispose } = await createTestDatabase(undefined, 'empty');
afterAll(() => dispose());
afterEach(() => void vi.restoreAllMocks());

test('the time while the machine was suspended counts at once', async () => {
  const clock = createDatabaseClock(createDb(database));
  await clock.measure();
  const before = clock.now().getTime();
  const { uptime } = os;
  // Unlike `performance.now()`, the time since the start of the machine goes on.
  vi.spyOn(os, 'uptime').mockImplementation(() => uptime() + 600);
  expect(clock.now().getTime() - before).toBeGreaterThanOrEqual(599_900);
  await clock.measure();
  expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(10_000);
});
