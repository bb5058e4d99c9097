import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { suspendedFor } from '../time/test-suspension.ts';
import { createDatabaseClock } from './clock.ts';
import { createDb } from './kysely.ts';

const { database, dispose } = await createTestDatabase(undefined, 'empty');
afterAll(() => dispose());

test('the time while the machine was suspended counts at once', async () => {
  const clock = createDatabaseClock(createDb(database));
  await clock.measure();
  const before = clock.now().getTime();
  const { restore } = await suspendedFor(600);
  onTestFinished(restore);
  expect(clock.now().getTime() - before).toBeGreaterThanOrEqual(599_900);
  await clock.measure();
  expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(10_000);
});
