import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../../test/database/database.ts';
import { createDb } from '../../db/kysely.ts';
import { listActivity, recordActivity } from './activity.ts';

const { database, dispose } = await createTestDatabase('postgresql');
afterAll(() => dispose());
const db = createDb(database);

test('the newest entries come first, page by page', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `operator-${index}`);
  for (const operator of names) await recordActivity(db, { operator, action: 'sign_in', outcome: 'done' });
  const first = await listActivity(db, 7);
  const second = await listActivity(db, 7, first.at(-1)?.id);
  expect([...first, ...second].map(({ operator }) => operator)).toEqual(names.toReversed());
});
