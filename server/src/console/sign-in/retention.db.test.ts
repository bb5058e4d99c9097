import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../../test/database/database.ts';
import { createDb } from '../../db/kysely.ts';
import { deleteOldConsoleData } from './sessions.ts';

const { database, dispose } = await createTestDatabase('postgresql');
afterAll(() => dispose());
const db = createDb(database);

async function countRows(): Promise<readonly number[]> {
  const { rows } = await sql<{ counts: number[] }>`
    SELECT ARRAY[(SELECT count(*) FROM operator_sessions), (SELECT count(*) FROM failed_sign_ins)]::int[] AS counts`.execute(
    db,
  );
  return rows[0]?.counts ?? [];
}

test('expired sessions and failed sign-ins are deleted, a limited number at a time', async () => {
  for (const [count, age] of [
    [3, '401 days'],
    [1, '0 days'],
  ] as const) {
    await sql`INSERT INTO operator_sessions (token_hash, name, role, expires_at)
      SELECT convert_to(${age} || it, 'UTF8'), 'kari', 'view', now() + interval '1 hour' - ${age}::interval
      FROM generate_series(1, ${count}::int) AS it`.execute(db);
    await sql`INSERT INTO failed_sign_ins (key_hash, failures, paused_until, last_failed_at)
      SELECT convert_to(${age} || it, 'UTF8'), 1, now(), now() - ${age}::interval
      FROM generate_series(1, ${count}::int) AS it`.execute(db);
  }
  await deleteOldConsoleData(db, 2);
  expect(await countRows()).toEqual([2, 2]);
  await deleteOldConsoleData(db, 2);
  expect(await countRows()).toEqual([1, 1]);
  await deleteOldConsoleData(db, 2);
  expect(await countRows()).toEqual([1, 1]);
});
