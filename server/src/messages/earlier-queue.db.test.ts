import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { PgBoss } from 'pg-boss';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { adoptMessages } from './earlier-queue.ts';

let testDatabase: TestDatabase;
let db: Db;
let boss: PgBoss;
beforeAll(async () => {
  testDatabase = await createTestDatabase('postgresql');
  db = createDb(testDatabase.database);
  // A new installation has no jobs.
  await adoptMessages(db);
  boss = new PgBoss({ connectionString: testDatabase.url ?? '', schedule: false, supervise: false });
  await boss.start();
  // As version 0.1.0 does.
  await boss.createQueue('messages', { retryLimit: 1_000_000, retryDelay: 1, retryBackoff: true, retryDelayMax: 60 });
});
afterAll(async () => {
  await boss.stop({ graceful: false });
  await testDatabase.dispose();
});

/** Queues a message as version 0.1.0 does. Returns its id and that of its job. */
async function queue(changes: { notBefore?: string } = {}) {
  const id = randomUUID();
  await sql`INSERT INTO messages
    (id, confirmation_id, sequence, emr, care_unit_id, channel, first_appointment_id, sealed_content, expires_at, not_before)
    VALUES (${id}, ${randomUUID()}, 1, 'clinic', 'ward', 'sms', 'a-1', '\\x00', now() + interval '1 hour',
      now() + ${changes.notBefore ?? null}::interval)`.execute(db);
  const job = (await boss.send('messages', { messageId: id })) ?? '';
  return { id, job };
}

/** As if so much time had gone by for a job. */
const backdate = (job: string, time: string) =>
  sql`UPDATE pgboss.job SET start_after = start_after - ${time}::interval, started_on = started_on - ${time}::interval
    WHERE id = ${job}`.execute(db);

async function adopted(id: string): Promise<number | null | undefined> {
  await adoptMessages(db);
  const { rows } = await sql<{ isDue: boolean | null; attempts: number | null; jobs: number }>`
    SELECT attempts, next_attempt_at <= clock_timestamp() AS "isDue",
      (SELECT count(*)::int FROM pgboss.job WHERE data ->> 'messageId' = messages.id::text) AS jobs
    FROM messages WHERE id = ${id}`.execute(db);
  const [row] = rows;
  // Each belongs to one of the two queues.
  expect(row).toMatchObject(row?.isDue ? { jobs: 0 } : { isDue: null, attempts: null, jobs: 1 });
  return row?.isDue ? row.attempts : undefined;
}

test('a message that a gateway of version 0.1.0 can send is left to it', async () => {
  const { id, job } = await queue();
  expect(await adopted(id)).toBeUndefined();
  // It is sending.
  await backdate(job, '10 seconds');
  await boss.fetch('messages');
  expect(await adopted(id)).toBeUndefined();
  // It will send again.
  await boss.fail('messages', job);
  expect(await adopted(id)).toBeUndefined();
});

test('one whose attempt none has begun is taken over', async () => {
  const { id, job } = await queue();
  await backdate(job, '4 seconds');
  expect(await adopted(id)).toBe(0);
  const again = await queue();
  await backdate(again.job, '1 hour');
  while ((await boss.fetch('messages'))?.[0]?.id !== again.job);
  await boss.fail('messages', again.job);
  await backdate(again.job, '1 minute');
  expect(await adopted(again.id)).toBe(1);
});

test('one whose worker was killed is taken over when its job has timed out', async () => {
  const { id, job } = await queue();
  await backdate(job, '1 hour');
  while ((await boss.fetch('messages'))?.[0]?.id !== job);
  await backdate(job, '26 seconds');
  expect(await adopted(id)).toBe(1);
});

test('one whose job a gateway is taking is left to it', async () => {
  const { id, job } = await queue();
  await backdate(job, '4 seconds');
  await db.transaction().execute(async (tx) => {
    await sql`SELECT FROM pgboss.job WHERE id = ${job} FOR UPDATE`.execute(tx);
    await adoptMessages(db);
  });
  const { rows } = await sql`SELECT FROM messages WHERE id = ${id} AND next_attempt_at IS NULL`.execute(db);
  expect(rows).toHaveLength(1);
});

test('one that is taken over waits as long as the provider has asked to', async () => {
  const { id, job } = await queue({ notBefore: '1 hour' });
  await backdate(job, '4 seconds');
  await adoptMessages(db);
  const { rows } = await sql`SELECT next_attempt_at = not_before AS waits FROM messages WHERE id = ${id}`.execute(db);
  expect(rows).toEqual([{ waits: true }]);
});

test('one that was queued again beside a gateway of version 0.1.0 is taken over at once', async () => {
  const { id, job } = await queue();
  await boss.complete('messages', job, undefined, { includeQueued: true });
  await boss.deleteJob('messages', job);
  await sql`UPDATE messages SET needs_job = true WHERE id = ${id}`.execute(db);
  expect(await adopted(id)).toBe(0);
});
