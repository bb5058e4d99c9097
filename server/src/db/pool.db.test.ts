import fc from 'fast-check';
import { Kysely, PostgresDialect } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import type { DatabaseClient, DatabasePool } from './pool.ts';

let test: TestDatabase;
let pool: DatabasePool;

beforeAll(async () => {
  test = await createTestDatabase(undefined, 'empty');
  pool = test.database.pool;
  await run(
    `CREATE TABLE thing (id integer PRIMARY KEY, note text NOT NULL);
     CREATE TABLE counted (id bigint PRIMARY KEY REFERENCES thing DEFERRABLE INITIALLY DEFERRED)`,
  );
});
beforeEach(async () => {
  await run('TRUNCATE thing, counted');
});
afterAll(() => test.dispose());

async function withConnection<T>(use: (client: DatabaseClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await use(client);
  } finally {
    client.release();
  }
}
const run = <Row>(text: string, values: unknown[] = []) => withConnection((client) => client.query<Row>(text, values));

describe('concurrent queries, some of which fail', () => {
  // Each query returns `marker`, or fails with the code.
  const statements: Record<string, (client: DatabaseClient, marker: number) => Promise<unknown>> = {
    'returns a row': (client, marker) => client.query('SELECT $1::int AS marker', [marker]),
    'returns several rows': (client, marker) =>
      client.query('SELECT $1::int AS marker FROM generate_series(1, $2::int)', [marker, 1 + (marker % 5)]),
    'simple protocol': (client, marker) => client.query(`SELECT ${marker} AS marker`, []),
    'without a name': (client, marker) => client.query(`SELECT $1::int + ${marker} - $1::int AS marker`, [7]),
    '42601': (client, marker) => client.query('SELECT $1::int AS marker FRO M', [marker]),
    '42703': (client, marker) => client.query('SELECT nothing, $1::int AS marker', [marker]),
    '22P02': (client, marker) => client.query('SELECT $1::int AS marker', [`no number ${marker}`]),
    '08P01': (client, marker) => client.query('SELECT $1::int AS marker, $2::int', [marker]),
    '22012': (client, marker) => client.query('SELECT $1::int / 0 AS marker', [marker]),
    '23505': (client) => client.query("INSERT INTO thing VALUES ($1, ''), ($1, '')", [1]),
    circular: (client, marker) => {
      const value: Record<string, unknown> = { marker };
      value.value = value;
      return client.query('SELECT $1::jsonb AS marker', [value]);
    },
  };

  async function check(kind: string, marker: number, query: Promise<unknown>): Promise<void> {
    const outcome = await query.then(
      (result) => (result as { rows: { marker: number }[] }).rows.map((row) => row.marker),
      (error) => error.code ?? (/circular/.test(error.message) ? 'circular' : error),
    );
    if (Array.isArray(outcome)) {
      expect(outcome.length).toBeGreaterThan(0);
      expect(new Set(outcome)).toEqual(new Set([marker]));
    } else expect(outcome).toBe(kind);
  }

  it("never return each other's rows", async () => {
    let marker = 0;
    const kind = fc.constantFrom(...Object.keys(statements));
    // A task runs statements one after another on one connection, with or without a transaction, which it may leave
    // open.
    const task = fc.record({
      kinds: fc.array(kind, { minLength: 1, maxLength: 4 }),
      transaction: fc.boolean(),
      together: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(task, { minLength: 10, maxLength: 40 }), async (tasks) => {
        await Promise.all(
          tasks.map(({ kinds, transaction, together }) =>
            withConnection(async (client) => {
              if (transaction) await client.query('BEGIN', []);
              let failed = false;
              const checks: Promise<void>[] = [];
              for (const kind of together ? kinds.slice(0, 2) : kinds) {
                const mine = marker++;
                const query = statements[kind]?.(client, mine) ?? Promise.reject();
                const checked =
                  failed || (transaction && together) ? query.then(noRows, () => undefined) : check(kind, mine, query);
                // The returned list reports each failure. If the loop fails first, only that failure is reported.
                checked.catch(() => undefined);
                checks.push(checked);
                if (!together) await checked;
                failed ||= transaction && /^\d/.test(kind);
              }
              // If several statements were sent together, the last one may still run when the connection is released.
              return checks;
            }).then((checks) => Promise.all(checks)),
          ),
        );
        const { rows } = await run<{ marker: number }>('SELECT $1::int AS marker', [marker]);
        expect(rows).toEqual([{ marker }]);
      }),
      { numRuns: inject('databaseKind') === 'pglite' ? 25 : 60 },
    );
    expect(marker).toBeGreaterThan(500);
  });

  const noRows = () => undefined;
});

describe('release', () => {
  const rowsOutside = async () => (await run<{ id: number }>('SELECT id FROM thing')).rows;

  it('rolls back an open transaction', async () => {
    await withConnection(async (client) => {
      await client.query('BEGIN');
      await client.query('INSERT INTO thing VALUES ($1, $2)', [1, 'a']);
    });
    expect(await rowsOutside()).toEqual([]);
  });

  it('rolls back a failed transaction', async () => {
    const failed = withConnection(async (client) => {
      await client.query('BEGIN');
      await client.query('INSERT INTO thing VALUES ($1, $2)', [1, 'a']);
      await client.query('INSERT INTO thing VALUES ($1, $2)', [1, 'b']);
    });
    await expect(failed).rejects.toMatchObject({ code: '23505' });
    expect(await rowsOutside()).toEqual([]);
  });

  it('rolls back after a failed commit and after statements that were not awaited', async () => {
    const failed = withConnection(async (client) => {
      await client.query('BEGIN');
      await client.query('INSERT INTO counted VALUES ($1)', [1]);
      await client.query('COMMIT');
    });
    await expect(failed).rejects.toMatchObject({ code: '23503' });
    const client = await pool.connect();
    const unawaited = Promise.allSettled([
      client.query('BEGIN'),
      client.query('INSERT INTO thing VALUES ($1, $2)', [1, 'a']),
    ]);
    client.release();
    expect(await rowsOutside()).toEqual([]);
    // These statements may fail. Handle their rejections, because an unhandled one would fail the run.
    await unawaited;
  });

  it('rejects queries afterwards', async () => {
    const client = await pool.connect();
    client.release();
    await expect(client.query('SELECT 1', [])).rejects.toThrow('has been released');
    expect(() => client.release()).toThrow('has been released already');
  });

  it('can close the connection', async () => {
    (await pool.connect()).release(true);
    await test.database.ping();
  });
});

it('runs a query outside a concurrent transaction', async () => {
  const client = await pool.connect();
  await client.query('BEGIN');
  const beside = Array.from({ length: 20 }, (_, id) => run('INSERT INTO thing VALUES ($1, $2)', [id, 'beside']));
  const inside = async () => {
    for (let id = 100; id < 110; id++) await client.query('INSERT INTO thing VALUES ($1, $2)', [id, 'inside']);
    await client.query('ROLLBACK');
    client.release();
  };
  // Sent at the same time: a rejection of the query beside it would be unhandled for now.
  await Promise.all([inside(), ...beside]);
  const { rows } = await run<{ note: string; count: number }>('SELECT note, count(*) FROM thing GROUP BY note');
  expect(rows).toEqual([{ note: 'beside', count: 20 }]);
});

it('serves Kysely', async () => {
  const kysely = new Kysely<{ thing: { id: number; note: string } }>({ dialect: new PostgresDialect({ pool }) });
  await Promise.all(
    Array.from({ length: 20 }, (_, id) =>
      kysely
        .transaction()
        .execute(async (trx) => {
          await trx.insertInto('thing').values({ id, note: 'kept' }).execute();
          if (id % 2 === 1) throw new Error('undo');
        })
        .catch((error) => expect(error.message).toBe('undo')),
    ),
  );
  const ids = await kysely.selectFrom('thing').select('id').orderBy('id').execute();
  expect(ids.map((row) => row.id)).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
  const updated = await kysely.updateTable('thing').set({ note: 'new' }).where('id', '<', 5).executeTakeFirst();
  expect(updated.numUpdatedRows).toBe(3n);
});

it('returns the documented types', async () => {
  const bytes = Buffer.from([0, 1, 255]);
  const { rows } = await run(
    `SELECT 9007199254740991::int8 AS safe, '{1,NULL,{}}'::text AS text, ARRAY[1, NULL]::int8[] AS safes,
            '1990-05-01'::date AS date, '2026-01-02T03:04:05.678+02'::timestamptz AS moment, 1.10::numeric AS exact,
            '{"a":[1]}'::jsonb AS json, $1::bytea AS bytes, $2::timestamptz AS sent, $3::text[] AS texts,
            '2026-07-01T23:30:00Z'::timestamptz::date AS utc`,
    [bytes, new Date(1), ['a', 'b"\\', null]],
  );
  expect(rows).toEqual([
    {
      safe: 9_007_199_254_740_991,
      text: '{1,NULL,{}}',
      safes: [1, null],
      date: '1990-05-01',
      moment: new Date('2026-01-02T01:04:05.678Z'),
      exact: '1.10',
      json: { a: [1] },
      bytes,
      sent: new Date(1),
      texts: ['a', 'b"\\', null],
      utc: '2026-07-01',
    },
  ]);
  await expect(run('SELECT 9007199254740992::int8')).rejects.toThrow(RangeError);
  const arrays = await withConnection((client) =>
    client.query({ text: 'SELECT $1::int, 2', values: [1], rowMode: 'array' }),
  );
  expect(arrays.rows).toEqual([[1, 2]]);
  await test.database.ping();
});

it('rejects more parameters than the protocol supports', async () => {
  await expect(run('SELECT 1', Array(65_536).fill(1))).rejects.toThrow(RangeError);
});

it('prepares a statement again after its table changed', async () => {
  const read = (client: DatabaseClient) => client.query('SELECT * FROM changing WHERE id = $1', [1]);
  await run('CREATE TABLE changing (id integer); INSERT INTO changing VALUES (1)');
  await withConnection(async (client) => {
    await read(client);
    await read(client);
    await client.query('ALTER TABLE changing ADD COLUMN more text');
    expect((await read(client)).rows).toEqual([{ id: 1, more: null }]);
    await read(client);
    await client.query('ALTER TABLE changing ADD COLUMN most text');
    await client.query('BEGIN');
    await expect(read(client)).rejects.toMatchObject({ code: '0A000' });
    await client.query('ROLLBACK');
    await client.query('BEGIN');
    expect((await read(client)).rows).toEqual([{ id: 1, more: null, most: null }]);
    await client.query('COMMIT');
  });
});

it('gives repeated statements with parameters a name', async () => {
  await withConnection(async (client) => {
    for (let time = 0; time < 3; time++) await client.query('SELECT $1::int AS named', [1]);
    await client.query('SELECT $1::int AS once', [1]);
    await client.query({ text: 'SELECT $1::int AS mine', values: [1], name: 'mine' });
    const { rows } = await client.query<{ statement: string }>('SELECT statement FROM pg_prepared_statements');
    const statements = rows.map((row) => row.statement);
    expect(statements.filter((text) => text === 'SELECT $1::int AS named')).toHaveLength(1);
    expect(statements.filter((text) => text === 'SELECT $1::int AS mine')).toHaveLength(1);
    expect(statements.filter((text) => text === 'SELECT $1::int AS once')).toHaveLength(0);
  });
});

describe('end', () => {
  it('rejects new callers and waits until connections are returned', async () => {
    const own = await createTestDatabase(undefined, 'empty');
    const client = await own.database.pool.connect();
    let closed = false;
    const closing = own.database.close().then(() => {
      closed = true;
    });
    await expect(own.database.pool.connect()).rejects.toThrow();
    await client.query('SELECT $1::int', [1]);
    expect(closed).toBe(false);
    client.release();
    await closing;
    await expect(own.database.ping()).rejects.toThrow();
    await own.dispose();
  });

  if (inject('databaseKind') === 'pglite')
    it('rejects callers that wait', async () => {
      const own = await createTestDatabase(undefined, 'empty');
      const client = await own.database.pool.connect();
      const waiting = expect(own.database.pool.connect()).rejects.toMatchObject({ name: 'DatabaseError' });
      const closing = own.database.close();
      await waiting;
      client.release();
      await closing;
    });
});
