import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { isConnectionFailure, isRolledBack, mayHaveBeenSent } from './errors.ts';
import { createDb, type Db } from './kysely.ts';
import { retryTransaction } from './transactions.ts';

// PGlite has no connections that break.
describe('a connection that fails', () => {
  let testDatabase: TestDatabase;
  let db: Db;
  beforeAll(async () => {
    testDatabase = await createTestDatabase(undefined, 'empty');
    db = createDb(testDatabase.database);
    await sql`CREATE TABLE note (text text PRIMARY KEY)`.execute(db);
    await sql`CREATE FUNCTION end_connection() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`.execute(db);
    await sql`CREATE TABLE ends_at_commit (id integer)`.execute(db);
    await sql`CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON ends_at_commit DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION end_connection()`.execute(db);
  });
  afterAll(() => testDatabase.dispose());

  const caught = (run: () => Promise<unknown>) =>
    run().then(
      () => undefined,
      (error: unknown) => error,
    );
  const endConnection = sql`SELECT pg_terminate_backend(pg_backend_pid())`;

  test('before COMMIT is a transaction that is rolled back and can be retried', async () => {
    let runs = 0;
    const failing = () =>
      db.transaction().execute(async (tx) => {
        runs++;
        await sql`INSERT INTO note VALUES ('once')`.execute(tx);
        if (runs === 1) await endConnection.execute(tx);
        return runs;
      });
    const error = await caught(failing);
    expect([isConnectionFailure(error), isRolledBack(error), mayHaveBeenSent(error)]).toEqual([true, true, false]);
    runs = 0;
    expect(await retryTransaction(failing)).toBe(2);
    expect((await sql`SELECT text FROM note`.execute(db)).rows).toEqual([{ text: 'once' }]);
  });

  test('during COMMIT leaves the outcome unknown, and the transaction is not retried', async () => {
    let runs = 0;
    const error = await caught(() =>
      retryTransaction(() =>
        db.transaction().execute(async (tx) => {
          runs++;
          await sql`INSERT INTO ends_at_commit VALUES (1)`.execute(tx);
        }),
      ),
    );
    expect([isConnectionFailure(error), isRolledBack(error), mayHaveBeenSent(error)]).toEqual([true, false, true]);
    expect(runs).toBe(1);
  });

  test('outside a transaction leaves the outcome unknown', async () => {
    const error = await caught(() => endConnection.execute(db));
    expect([isConnectionFailure(error), isRolledBack(error), mayHaveBeenSent(error)]).toEqual([true, false, true]);
  });

  test('because its server accepts no more writes is closed, and the next one is new', async () => {
    const { pool } = testDatabase.database;
    const client = await pool.connect();
    await client.query('SET default_transaction_read_only = on');
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const error = await caught(() => client.query("INSERT INTO note VALUES ('read-only')", []));
    client.release();
    expect([isConnectionFailure(error), mayHaveBeenSent(error)]).toEqual([true, false]);
    const pids = await sql<{ pid: number }>`SELECT pid FROM pg_stat_activity WHERE pid = ${rows[0]?.pid}`;
    await expect.poll(async () => (await pids.execute(db)).rows).toEqual([]);
    await sql`INSERT INTO note VALUES ('written')`.execute(db);
  });

  test('before anything is sent is known to have changed nothing', async () => {
    const client = await testDatabase.database.pool.connect();
    client.release();
    await testDatabase.database.close();
    const error = await caught(() => endConnection.execute(db));
    expect([isConnectionFailure(error), isRolledBack(error), mayHaveBeenSent(error)]).toEqual([true, false, false]);
  });
});
