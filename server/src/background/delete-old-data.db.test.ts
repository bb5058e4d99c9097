/** @module-tag any-database */
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { createDb } from '../db/kysely.ts';
import { deleteOldData } from './delete-old-data.ts';

test('what callers leave behind is deleted in one round, however many they are', async () => {
  const database = await createTestDatabase('postgresql');
  onTestFinished(() => database.dispose());
  const db = createDb(database.database);
  await sql`
    INSERT INTO failed_credentials (key_hash, failures, counted, paused_until, failed_at)
    SELECT decode(md5(n::text), 'hex'), 1, 1, now(), now() - n * interval '1 minute' FROM generate_series(1, 40) AS n`.execute(
    db,
  );
  await sql`
    INSERT INTO used_assertions (client_id, jti_hash, request_id, expires_at)
    SELECT 'client', decode(md5(n::text), 'hex'), gen_random_uuid(), now() - (n + 35) * interval '1 minute'
    FROM generate_series(1, 50) AS n`.execute(db);
  await deleteOldData(db, { confirmation_days: 90, event_days: 30, audit_days: 1830 }, 10);
  const { rows } = await sql`
    SELECT (SELECT count(*)::int FROM failed_credentials) AS failures,
      (SELECT count(*)::int FROM used_assertions) AS assertions`.execute(db);
  expect(rows).toEqual([{ failures: 14, assertions: 24 }]);
});
