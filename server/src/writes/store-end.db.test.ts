/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { LeaseLost } from '../db/write-lease.ts';
import { writeEvents } from '../events/write-events.ts';
import { storeEnd } from './store-end.ts';

let testDatabase: TestDatabase;
let db: Db;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = createDb(testDatabase.database);
});
afterAll(() => testDatabase.dispose());

const event = {
  type: 'emr.recovered',
  emr: 'ehr',
  careUnitId: null,
  subject: null,
  data: { status: 'available' },
} as const;

test('a process that has lost the lease of a monitored operation writes no events at its end', async () => {
  const operation = {
    id: randomUUID(),
    clientId: 'app',
    emr: 'ehr',
    careUnitId: 'ward',
    keyHash: null,
    attempt: 0,
  };
  const [lost, held] = [randomUUID(), randomUUID()];
  await sql`INSERT INTO operations (id, client_id, emr, care_unit_id, state, lease_token)
    VALUES (${operation.id}, 'app', 'ehr', 'ward', 'done', ${held})`.execute(db);
  const end = (token: string) =>
    db.transaction().execute(async (tx) => {
      await writeEvents(tx, [event]);
      await storeEnd(tx, 'answered', { ...operation, token });
    });
  await expect(end(lost)).rejects.toBeInstanceOf(LeaseLost);
  await end(held);
  expect(await db.selectFrom('events').select('type').execute()).toHaveLength(1);
});
