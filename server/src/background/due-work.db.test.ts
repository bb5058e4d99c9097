import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { observeStatements } from '../../../test/database/statements.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { readDueWork } from './due-work.ts';

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
  let due: ReadonlySet<string> = new Set();
  const statements = await observeStatements(testDatabase.database.pool, async () => {
    due = (await readDueWork(db, ehrs)).ehrs;
  });
  expect([...due]).toEqual(['operation due', 'code expired']);
  expect(statements).toHaveLength(1);
});

test('names the EHRs whose changes are to be read or reported', async () => {
  await sql`INSERT INTO ehr_change_feeds (emr, next_read_at)
    VALUES ('due', now()), ('later', now() + interval '1 hour'), ('unreported', now() + interval '1 hour')`.execute(db);
  await sql`INSERT INTO ehr_changes (emr, appointment_id, views, is_new, read_at, stored_at)
    VALUES ('unreported', 'a-1', '[]', false, now(), now())`.execute(db);
  const { changes } = await readDueWork(db, ['due', 'later', 'unreported', 'never read']);
  expect([...changes]).toEqual(['due', 'unreported', 'never read']);
});

const nothing = {
  events: false,
  replays: false,
  heartbeats: false,
  deliveries: false,
  messages: false,
  queuedMessages: false,
  watches: false,
  earlierMessages: false,
  lateMessages: false,
  pauses: [],
};
const readRest = async () => {
  const { ehrs: _, changes: __, storedRevision: ___, ...rest } = await readDueWork(db, []);
  return rest;
};

test('reads the pauses of EHRs that are in effect', async () => {
  await sql`INSERT INTO ehr_pauses (emr, paused_at, paused_until) VALUES ('now', '2026-01-02T03:04:05.678Z', NULL),
    ('ends', '2026-01-02T03:04:05Z', '2999-01-02T03:04:05Z'), ('ended', now(), now())`.execute(db);
  const since = new Date('2026-01-02T03:04:05Z');
  const { pauses } = await readDueWork(db, []);
  expect(pauses.toSorted((a, b) => (a.emr < b.emr ? -1 : 1))).toEqual([
    { emr: 'ends', since, until: new Date('2999-01-02T03:04:05Z') },
    { emr: 'now', since: new Date('2026-01-02T03:04:05.678Z'), until: null },
  ]);
  await sql`DELETE FROM ehr_pauses`.execute(db);
});

test('finds events, deliveries and messages from when they are due', async () => {
  expect(await readRest()).toEqual(nothing);
  await sql`INSERT INTO events (type, emr, data) VALUES ('emr.available', 'idle', '{}')`.execute(db);
  expect(await readRest()).toEqual({ ...nothing, events: true });
  await sql`UPDATE events SET position = 1`.execute(db);
  expect(await readRest()).toEqual(nothing);

  const endpoint = randomUUID();
  await sql`INSERT INTO webhook_endpoints (id, client_id, sealed_url, sealed_secret)
    VALUES (${endpoint}, 'app', '\\x00', '\\x00')`.execute(db);
  await sql`INSERT INTO webhook_deliveries (endpoint_id, event_id, event_position, next_attempt_at)
    SELECT ${endpoint}, id, 1, now() + interval '1 hour' FROM events`.execute(db);
  expect(await readRest()).toEqual(nothing);
  await sql`UPDATE webhook_deliveries SET next_attempt_at = now()`.execute(db);
  expect(await readRest()).toEqual({ ...nothing, deliveries: true });
  await sql`UPDATE webhook_endpoints SET paused_until = now() + interval '1 hour', replay_until = 1`.execute(db);
  expect(await readRest()).toEqual({ ...nothing, replays: true });
  await sql`DELETE FROM webhook_endpoints`.execute(db);

  await sql`INSERT INTO messages
    (id, confirmation_id, sequence, emr, care_unit_id, channel, first_appointment_id, sealed_content, expires_at)
    VALUES (${randomUUID()}, ${randomUUID()}, 1, 'idle', 'ward', 'sms', 'a-1', '\\x00', now() + interval '1 hour')`.execute(
    db,
  );
  expect(await readRest()).toEqual({ ...nothing, queuedMessages: true, earlierMessages: true });
  await sql`UPDATE messages SET next_attempt_at = now()`.execute(db);
  expect(await readRest()).toEqual({ ...nothing, queuedMessages: true, messages: true });
  await sql`UPDATE messages SET next_attempt_at = now() + interval '1 minute'`.execute(db);
  expect(await readRest()).toEqual({ ...nothing, queuedMessages: true });
  await sql`UPDATE messages SET created_at = now() - interval '1 minute'`.execute(db);
  expect(await readRest()).toEqual({ ...nothing, queuedMessages: true, lateMessages: true });
  await sql`UPDATE messages SET state = 'sent', sealed_content = NULL, completed_at = now(), next_attempt_at = NULL`.execute(
    db,
  );
  expect(await readRest()).toEqual(nothing);
});
