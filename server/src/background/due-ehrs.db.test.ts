import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { observeStatements } from '../../../test/database/statements.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { dueChanges, dueEhrs } from './due-ehrs.ts';

let testDatabase: TestDatabase;
let db: Db;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = createDb(testDatabase.database);
});
afterAll(() => testDatabase.dispose());

async function addOperation(emr: string, dueIn: string): Promise<void> {
  await sql`INSERT INTO operations (id, client_id, emr, care_unit_id, kind, state, next_attempt_at)
    VALUES (${randomUUID()}, 'app', ${emr}, 'ward', 'appointments', 'pending', now() + ${dueIn}::interval)`.execute(db);
}

async function addCode(emr: string, expiresIn: string, state = 'pending'): Promise<void> {
  const id = randomUUID();
  await sql`INSERT INTO confirmations (id, client_id, emr, care_unit_id, kind, channel, max_attempts, last_code_sent_at, expires_at)
    VALUES (${id}, 'app', ${emr}, 'ward', 'booking', 'sms', 5, now(), now() + ${expiresIn}::interval)`.execute(db);
  await sql`INSERT INTO confirmation_items (emr, appointment_id, confirmation_id, care_unit_id, position, kind, state)
    VALUES (${emr}, ${`a-${id}`}, ${id}, 'ward', 0, 'booking', ${state})`.execute(db);
}

test('names the EHRs with due operations or expired codes, in one statement', async () => {
  await addOperation('operation due', '-1 second');
  await addOperation('operation later', '1 hour');
  await addCode('code expired', '-1 second');
  await addCode('code valid', '1 hour');
  await addCode('code used', '-1 second', 'confirmed');
  const ehrs = ['operation due', 'operation later', 'code expired', 'code valid', 'code used', 'idle'];
  const isDue = dueEhrs(db, ehrs);
  let due: boolean[] = [];
  const statements = await observeStatements(testDatabase.database.pool, async () => {
    due = await Promise.all(ehrs.map(isDue));
  });
  expect(ehrs.filter((_, index) => due[index])).toEqual(['operation due', 'code expired']);
  expect(statements).toHaveLength(1);
});

test('asks again later', async () => {
  const isDue = dueEhrs(db, ['new']);
  expect(await isDue('new')).toBe(false);
  await addOperation('new', '-1 second');
  await expect.poll(() => isDue('new')).toBe(true);
});

test('names the EHRs whose changes are to be read or reported', async () => {
  await sql`INSERT INTO ehr_change_feeds (emr, next_read_at)
    VALUES ('due', now()), ('later', now() + interval '1 hour'), ('unreported', now() + interval '1 hour')`.execute(db);
  await sql`INSERT INTO ehr_changes (emr, appointment_id, views, is_new, read_at, stored_at)
    VALUES ('unreported', 'a-1', '[]', false, now(), now())`.execute(db);
  const ehrs = ['due', 'later', 'unreported', 'never read'];
  const isDue = dueChanges(db, ehrs);
  const due = await Promise.all(ehrs.map(isDue));
  expect(ehrs.filter((_, index) => due[index])).toEqual(['due', 'unreported', 'never read']);
});
