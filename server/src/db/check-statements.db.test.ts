/** @module-tag any-database */

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectTimeout, createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { pgbouncerVersion, startPgbouncer } from '../../../test/database/pgbouncer.ts';
import { checkStatements } from './check-statements.ts';
import { openDatabase } from './database.ts';
import { isDatabaseFailure, isStaleStatement } from './errors.ts';
import type { DatabaseClient, DatabasePool } from './pool.ts';
import { NodePostgresPool } from './postgres-pool.ts';
import { retryTransaction } from './transactions.ts';

const mixedUp = /^A pooler in front of PostgreSQL mixes up prepared statements\. Use PgBouncer 1\.21 or newer/;

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase('postgresql');
});
afterAll(() => server.dispose());

async function connect(pool: DatabasePool): Promise<DatabaseClient> {
  const client = await pool.connect();
  onTestFinished(() => client.release(true));
  return client;
}

describe('a connection on which somebody else has prepared a statement', () => {
  /** Two connections. The second one has the names of the first one's statements. */
  async function mixed() {
    const [first, second] = [await connect(server.database.pool), await connect(server.database.pool)];
    for (const _use of ['first', 'named']) await first.query('SELECT $1::int + 1 AS next', [1]);
    const { rows } = await first.query<{ name: string }>('SELECT name FROM pg_prepared_statements');
    for (const { name } of rows) await second.query(`PREPARE "${name}" AS SELECT 0`);
    expect(rows).not.toEqual([]);
    return second;
  }

  test('executes it without its name', async () => {
    const client = await mixed();
    expect((await client.query('SELECT $1::int + 1 AS next', [1])).rows).toEqual([{ next: 2 }]);
  });

  test('fails in a transaction as the database does, and executes it when that is repeated', async () => {
    const client = await mixed();
    const errors: unknown[] = [];
    const { rows } = await retryTransaction(async () => {
      await client.query('BEGIN');
      try {
        return await client.query('SELECT $1::int + 1 AS next', [1]);
      } catch (error) {
        errors.push(error);
        throw error;
      } finally {
        await client.query('ROLLBACK');
      }
    });
    expect(rows).toEqual([{ next: 2 }]);
    expect(errors).toEqual([expect.toSatisfy(isDatabaseFailure)]);
  });

  test('is found at the start', async () => {
    const pool = new NodePostgresPool({ connectionString: server.url ?? '', connectionTimeoutMillis: connectTimeout });
    onTestFinished(() => pool.end());
    const client = await pool.connect();
    await client.query('PREPARE "crossward.check.0" AS SELECT 0');
    client.release();
    await expect(checkStatements([server.database.background, pool])).rejects.toThrow(mixedUp);
    await expect(checkStatements([server.database.background])).resolves.toBeUndefined();
  });
});

const version = pgbouncerVersion();
const tracksStatements = Number(version?.split('.')[1]) >= 21;

// Skipped where PgBouncer is not installed, as on a developer's machine. `.ci/run` installs it.
describe.skipIf(version === undefined)('behind PgBouncer', () => {
  async function behind(mode: 'session' | 'transaction'): Promise<string> {
    const bouncer = await startPgbouncer(server.url ?? '', mode);
    onTestFinished(() => bouncer.stop());
    return bouncer.url;
  }

  test('in session mode, the database is opened', async () => {
    const database = await openDatabase({ databaseUrl: await behind('session'), dataDir: '', connectTimeout });
    await database.ping();
    await database.close();
  });

  // From 1.21 on, PgBouncer keeps prepared statements apart, and is accepted: the next test is for both.
  test.skipIf(tracksStatements)('in transaction mode, a version that mixes up statements is rejected', async () => {
    const databaseUrl = await behind('transaction');
    await expect(openDatabase({ databaseUrl, dataDir: '', connectTimeout })).rejects.toThrow(mixedUp);
  });

  test('in transaction mode, each statement that fails is a failure of the database', async () => {
    const pool = new NodePostgresPool({
      connectionString: await behind('transaction'),
      connectionTimeoutMillis: connectTimeout,
      max: 20,
    });
    onTestFinished(() => pool.end());
    const outcome = async (n: number) => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const { rows } = await client.query('SELECT $1::int AS n, pg_sleep(0)', [n]);
        await client.query('COMMIT');
        return rows.map((row) => (row as { n: number }).n);
      } catch (error) {
        return isStaleStatement(error) && isDatabaseFailure(error) ? 'unavailable' : error;
      } finally {
        client.release();
      }
    };
    const outcomes = await Promise.all(Array.from({ length: 400 }, (_, n) => outcome(n)));
    const others = outcomes.filter((each, n) => each !== 'unavailable' && String(each) !== String(n));
    expect(others).toEqual([]);
    if (!tracksStatements) expect(outcomes).toContain('unavailable');
  });
});
