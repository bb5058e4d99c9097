import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../test/gateway/gateway.ts';
import { freeSlot, oslo } from '../../../test/requests/bookings.ts';
import { creation, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';
import type { Configuration } from '../config/configuration.ts';

type Reads = Configuration['audit']['reads'];

/** Starts a gateway whose database notes how each transaction that stores entries or appointments commits. */
async function startWatched(reads: Reads): Promise<Gateway> {
  const gateway = await startGateway({ configure: (it) => ({ ...it, audit: { reads } }), through: waitingForDisk });
  const { db } = gateway.deps.services;
  await sql`CREATE TABLE commits (operation text, synchronous_commit text)`.execute(db);
  await sql`
    CREATE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO commits VALUES (coalesce(to_jsonb(NEW) ->> 'operation', TG_TABLE_NAME), current_setting('synchronous_commit'));
      RETURN NULL;
    END $$`.execute(db);
  for (const table of ['audit_drafts', 'sandbox.appointments']) {
    await sql`
      CREATE CONSTRAINT TRIGGER note_commit AFTER INSERT ON ${sql.table(table)} DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION note_commit()`.execute(db);
  }
  return gateway;
}

/** The servers of tests do not wait for the disk. */
async function waitingForDisk(databaseUrl: string): Promise<string> {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', '-c synchronous_commit=on');
  return url.href;
}

describe.each<[Reads, 'on' | 'off']>([
  ['relaxed', 'off'],
  ['flushed', 'on'],
])('with audit.reads: %s', async (reads, ofReads) => {
  const gateway = await startWatched(reads);
  const { db } = gateway.deps.services;
  afterAll(() => gateway.close());
  beforeEach(() => sql`TRUNCATE commits`.execute(db));

  const commits = async () =>
    (await sql`SELECT DISTINCT operation, synchronous_commit FROM commits ORDER BY operation`.execute(db)).rows;

  test(`synchronous_commit is ${ofReads} for reads, also for several at a time`, async () => {
    const paths = [`${oslo}/patients/p-1`, `${oslo}/patients/p-2`, `${oslo}/patients/p-1`];
    const responses = await Promise.all(paths.map((path) => gateway.request('GET', path)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await commits()).toEqual([{ operation: 'get_patient', synchronous_commit: ofReads }]);
  });

  test(`it is ${ofReads} for a rejected read`, async () => {
    expect(await gateway.request('GET', `${oslo}/appointments/unknown`)).toMatchObject({ status: 404 });
    expect(await commits()).toEqual([{ operation: 'get_appointment', synchronous_commit: ofReads }]);
  });

  test('it is on for writes, in the sandbox too, and for rejected ones', async () => {
    const { send } = keysOf(gateway);
    expect((await send(creation(await freeSlot(gateway)), newKey())).status).toBe(201);
    const rejected = await gateway.request('POST', `${oslo}/appointments`, { body: { patient_id: 'p-1' } });
    expect(rejected.status).toBe(400);
    expect(await commits()).toEqual([
      { operation: 'appointments', synchronous_commit: 'on' },
      { operation: 'create_appointment', synchronous_commit: 'on' },
    ]);
  });
});
