import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { type PostgresProxy, startPostgresProxy } from '../../../test/postgres-proxy/postgres-proxy.ts';
import type { Way } from '../../../test/postgres-proxy/ways.ts';
import { within } from '../context/work-context.ts';
import { type Database, openDatabase } from './database.ts';
import {
  canBeRepeatedAtOnce,
  isConnectionFailure,
  isDatabaseFailure,
  isRolledBack,
  mayHaveBeenSent,
} from './errors.ts';
import { createDb, type Db, type Tx } from './kysely.ts';
import { newDatabaseTime } from './time-limit.ts';
import { retryTransaction } from './transactions.ts';

// PGlite has no connections that break, and no other transactions.
describe('a failure of PostgreSQL', () => {
  let testDatabase: TestDatabase;
  let direct: Db;
  let proxy: PostgresProxy;
  beforeAll(async () => {
    testDatabase = await createTestDatabase(undefined, 'empty');
    direct = createDb(testDatabase.database);
    await sql`CREATE TABLE note (text text)`.execute(direct);
    proxy = await startPostgresProxy(testDatabase.url ?? '');
  });
  afterEach(() => proxy.heal());
  afterAll(async () => {
    await proxy.close();
    await testDatabase.dispose();
  });

  async function open(parameters: string, base = testDatabase.url): Promise<Database> {
    const database = await openDatabase({ databaseUrl: `${base}?${parameters}`, dataDir: '', connectTimeout: 60_000 });
    onTestFinished(() => database.close());
    return database;
  }
  const openThroughProxy = async () => createDb(await open('query_timeout=1000', proxy.url));

  let notes = 0;
  const newNote = () => `note ${++notes}`;
  const add = (db: Db | Tx, text: string) => sql`INSERT INTO note VALUES (${text})`.execute(db);
  const stored = async (text: string) => (await sql`SELECT FROM note WHERE text = ${text}`.execute(direct)).rows.length;
  const caught = (run: Promise<unknown>) =>
    run.then(
      () => undefined,
      (error: unknown) => error,
    );

  const writes: readonly [string, (db: Db, text: string) => Promise<unknown>][] = [
    ['a single statement', add],
    ['a commit', (db, text) => retryTransaction(() => db.transaction().execute((tx) => add(tx, text)))],
  ];
  const ways: readonly (readonly [Way, number])[] = [
    [{ kind: 'before' }, 0],
    [{ kind: 'after' }, 1],
    [{ kind: 'late' }, 1],
    [{ kind: 'delay' }, 1],
    [{ kind: 'silent' }, 1],
    [{ kind: 'in request' }, 0],
    [{ kind: 'in answer' }, 1],
    [{ kind: 'all', at: 'before', refuseMilliseconds: 50 }, 0],
    [{ kind: 'all', at: 'after', refuseMilliseconds: 50 }, 1],
  ];

  describe.each(writes)('at %s', (_name, write) => {
    test.each(ways)('%o leaves the outcome unknown, and nothing is sent twice', async (way, count) => {
      const [db, text] = [await openThroughProxy(), newNote()];
      const cut = proxy.cutNext(way);
      const error = await caught(write(db, text));
      expect([isDatabaseFailure(error), isConnectionFailure(error), mayHaveBeenSent(error)]).toEqual([
        true,
        true,
        true,
      ]);
      expect([isRolledBack(error), canBeRepeatedAtOnce(error)]).toEqual([false, false]);
      cut.release();
      await cut.settled;
      expect(await stored(text)).toBe(count);
      // The pool goes on with other connections.
      const after = newNote();
      await expect.poll(() => caught(add(db, after))).toBeUndefined();
      expect(await stored(after)).toBe(1);
    });
  });

  test.each<Way>([
    { kind: 'before' },
    { kind: 'after' },
    { kind: 'in request' },
    { kind: 'in answer' },
    { kind: 'all', at: 'before', refuseMilliseconds: 0 },
    { kind: 'all', at: 'after', refuseMilliseconds: 0 },
  ])('%o in a transaction rolls it back, and it is repeated', async (way) => {
    const [db, text] = [await openThroughProxy(), newNote()];
    const write = () => db.transaction().execute((tx) => add(tx, text));
    const isInsert = ({ kind, statements }: { kind: string; statements: readonly string[] }) =>
      kind === 'part' && statements.some((it) => it.startsWith('INSERT'));
    proxy.cutNext(way, isInsert);
    const error = await caught(write());
    expect([isRolledBack(error), mayHaveBeenSent(error)]).toEqual([true, false]);
    await proxy.comeUp();
    proxy.cutNext({ kind: 'before' }, isInsert);
    await retryTransaction(write);
    expect(await stored(text)).toBe(1);
  });

  test('no new connection: nothing was sent', async () => {
    const database = await openDatabase({ databaseUrl: proxy.url, dataDir: '', connectTimeout: 1_000 });
    onTestFinished(() => database.close());
    const [db, text] = [createDb(database), newNote()];
    proxy.goDown();
    // The idle connection may still be in the pool.
    await caught(add(db, newNote()));
    const error = await caught(add(db, text));
    expect([isConnectionFailure(error), mayHaveBeenSent(error)]).toEqual([true, false]);
    expect(await stored(text)).toBe(0);
  });

  describe('that gave up waiting for a lock', () => {
    /** Holds a lock until the returned function is called. */
    async function hold(): Promise<() => Promise<void>> {
      const client = await testDatabase.database.pool.connect();
      await client.query('BEGIN');
      await client.query('SELECT pg_advisory_xact_lock(7)');
      return async () => {
        await client.query('ROLLBACK');
        client.release();
      };
    }
    const wait = (db: Db, text: string) =>
      retryTransaction(() =>
        db.transaction().execute(async (tx) => {
          await add(tx, text);
          await sql`SELECT pg_advisory_xact_lock(7)`.execute(tx);
        }),
      );

    test.each([
      ['55P03', 'lock_timeout=100'],
      ['57014', 'statement_timeout=100&lock_timeout=0'],
      ['', 'query_timeout=100'],
    ])('%s is rolled back, and not waited for again', async (code, parameters) => {
      const release = await hold();
      const [db, text] = [createDb(await open(parameters)), newNote()];
      const error = await caught(wait(db, text));
      await release();
      if (code) expect(error).toMatchObject({ code });
      expect([isDatabaseFailure(error), isRolledBack(error)]).toEqual([true, true]);
      expect([mayHaveBeenSent(error), canBeRepeatedAtOnce(error)]).toEqual([false, false]);
      expect(await stored(text)).toBe(0);
      await wait(db, text);
      expect(await stored(text)).toBe(1);
    });

    test('a request waits for all its statements together as long as for one', async () => {
      const release = await hold();
      const db = createDb(await open('lock_timeout=0'));
      const [patience, text] = [newDatabaseTime(), newNote()];
      patience.milliseconds = 2_500;
      const asked = performance.now();
      const error = await caught(within({ databaseTime: patience }, () => wait(db, text)));
      expect(isRolledBack(error)).toBe(true);
      expect(performance.now() - asked).toBeGreaterThan(2_000);
      // A timer may end the wait a millisecond early.
      expect(patience.milliseconds).toBeLessThan(10);
      await release();
      await within({ databaseTime: patience }, () => wait(db, text));
      expect(await stored(text)).toBe(1);
    });
  });

  test('a transaction that is left idle ends, and its locks with it', async () => {
    const frozen = await (await open('idle_in_transaction_session_timeout=200')).pool.connect();
    await frozen.query('BEGIN');
    await frozen.query('SELECT pg_advisory_xact_lock(8)');
    await sql`SELECT pg_advisory_xact_lock(8)`.execute(direct);
    const error = await caught(frozen.query('COMMIT'));
    frozen.release();
    expect([isRolledBack(error), mayHaveBeenSent(error)]).toEqual([true, false]);
  });

  test('a deadlock is rolled back and repeated', async () => {
    const db = createDb(await open('lock_timeout=0'));
    const inOrder = (locks: readonly [number, number], met: () => Promise<void>) => {
      let runs = 0;
      return retryTransaction(() =>
        db.transaction().execute(async (tx) => {
          for (const lock of locks) {
            await sql`SELECT pg_advisory_xact_lock(${lock})`.execute(tx);
            if (lock === locks[0] && runs === 0) await met();
          }
          runs++;
        }),
      );
    };
    let arrived = 0;
    const both = Promise.withResolvers<void>();
    const met = async () => {
      if (++arrived === 2) both.resolve();
      await both.promise;
    };
    await Promise.all([inOrder([11, 12], met), inOrder([12, 11], met)]);
  });

  describe('is not seen in a process that slept', () => {
    const sleepAll = (milliseconds: number) =>
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

    test.each([600, 2_000])('for %i ms, while the answer arrived', async (milliseconds) => {
      const client = await (await open('query_timeout=300')).pool.connect();
      await client.query('SELECT 1');
      const answer = client.query<{ slept: number }>('SELECT 1 AS slept FROM pg_sleep(0.1)');
      sleepAll(milliseconds);
      const result = await answer.finally(() => client.release());
      expect(result.rows).toEqual([{ slept: 1 }]);
    });

    test('unless no answer comes then', async () => {
      const client = await (await open('query_timeout=300')).pool.connect();
      await client.query('SELECT 1');
      const answer = caught(client.query('SELECT pg_sleep(60)'));
      sleepAll(600);
      const error = await answer;
      client.release();
      expect(error).toMatchObject({ message: 'Query read timeout' });
      expect(mayHaveBeenSent(error)).toBe(true);
    });
  });
});
