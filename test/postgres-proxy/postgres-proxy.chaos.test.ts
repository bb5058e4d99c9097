import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts';
import type { Way } from './ways.ts';

describe('the proxy in front of PostgreSQL', () => {
  let testDatabase: TestDatabase;
  let direct: pg.Client;
  let proxy: PostgresProxy;
  beforeAll(async () => {
    testDatabase = await createTestDatabase(undefined, 'empty');
    direct = new pg.Client(testDatabase.url);
    await direct.connect();
    await direct.query('CREATE TABLE note (text text PRIMARY KEY)');
    proxy = await startPostgresProxy(testDatabase.url ?? '');
  });
  afterEach(() => proxy.heal());
  afterAll(async () => {
    await proxy.close();
    await direct.end();
    await testDatabase.dispose();
  });

  let notes = 0;
  const newNote = () => `note ${++notes}`;
  const isStored = async (text: string) => {
    const { rowCount } = await direct.query('SELECT FROM note WHERE text = $1', [text]);
    return rowCount === 1;
  };

  async function connect(config: pg.ClientConfig = {}): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: proxy.url, ...config });
    client.on('error', () => undefined);
    onTestFinished(() => client.end().catch(() => undefined));
    await client.connect();
    return client;
  }

  /** How a statement or a transaction is sent. Each stores one note. */
  const writes: readonly [string, (client: pg.Client, text: string) => Promise<unknown>][] = [
    ['a simple query', (client, text) => client.query(`INSERT INTO note VALUES ('${text}')`)],
    ['a parameterised statement', (client, text) => client.query('INSERT INTO note VALUES ($1)', [text])],
    [
      'a prepared statement',
      async (client, text) => {
        const insert = { name: 'insert_note', text: 'INSERT INTO note VALUES ($1)' };
        await client
          .query({ name: 'insert_note', text: insert.text, values: [`${text} before`] })
          .catch(() => undefined);
        return client.query({ ...insert, values: [text] });
      },
    ],
    [
      'a transaction',
      async (client, text) => {
        await client.query('begin');
        await client.query('INSERT INTO note VALUES ($1)', [text]);
        return client.query('commit');
      },
    ],
    [
      'a transaction whose COMMIT is parsed',
      async (client, text) => {
        await client.query('START TRANSACTION');
        await client.query('INSERT INTO note VALUES ($1)', [text]);
        return client.query({ text: 'COMMIT', values: [], queryMode: 'extended' } as pg.QueryConfig);
      },
    ],
  ];
  /** The write of one note, and not the one that prepares its statement. */
  const planFor = (text: string, name: string, way: Way) => {
    let count = 0;
    const skipped = name === 'a prepared statement' ? 1 : 0;
    return proxy.cutNext(way, ({ kind, statements, writes: changes }) => {
      return (
        kind !== 'part' && changes && statements.some((it) => it.includes('note')) && count++ === skipped && text !== ''
      );
    });
  };
  const outcome = (write: Promise<unknown>) =>
    write.then(
      () => 'answered',
      (error: Error) => error.message,
    );

  const lost = expect.stringMatching(/Connection terminated|ECONNRESET/);

  describe.each(writes)('cuts %s', (name, write) => {
    test.each<[Way, boolean]>([
      [{ kind: 'before' }, false],
      [{ kind: 'after' }, true],
      [{ kind: 'in request' }, false],
      [{ kind: 'in answer' }, true],
      [{ kind: 'all', at: 'before' }, false],
      [{ kind: 'all', at: 'after' }, true],
    ])('%o: the connection breaks, and the write is stored: %s', async (way, stored) => {
      const [text, client] = [newNote(), await connect()];
      const cut = planFor(text, name, way);
      expect(await outcome(write(client, text))).toEqual(lost);
      const unit = await cut.settled;
      expect(unit).toMatchObject({ kind: name.includes('transaction') ? 'commit' : 'statement', writes: true });
      expect(await isStored(text)).toBe(stored);
      expect(proxy.cuts.at(-1)).toMatchObject({ way: way.kind, unit });
    });

    test('late: the connection breaks, and the write is stored later', async () => {
      const [text, client] = [newNote(), await connect()];
      const cut = planFor(text, name, { kind: 'late' });
      expect(await outcome(write(client, text))).toEqual(lost);
      await cut.met;
      expect(await isStored(text)).toBe(false);
      cut.release();
      await cut.settled;
      expect(await isStored(text)).toBe(true);
    });

    test('delay: the client waits, and gets its answer', async () => {
      const [text, client] = [newNote(), await connect()];
      const cut = planFor(text, name, { kind: 'delay' });
      const answer = outcome(write(client, text));
      await cut.met;
      expect(await isStored(text)).toBe(false);
      cut.release();
      expect(await answer).toBe('answered');
      expect(await isStored(text)).toBe(true);
      await client.query('SELECT 1');
    });

    test('delay beyond the time limit: the client goes, and the write is stored later', async () => {
      const [text, client] = [newNote(), await connect({ query_timeout: 200 })];
      const cut = planFor(text, name, { kind: 'delay' });
      expect(await outcome(write(client, text))).toBe('Query read timeout');
      await client.end();
      expect(await isStored(text)).toBe(false);
      cut.release();
      await cut.settled;
      expect(await isStored(text)).toBe(true);
    });

    test('silent: the write is stored, and the client hears nothing', async () => {
      const [text, client] = [newNote(), await connect({ query_timeout: 500 })];
      const cut = planFor(text, name, { kind: 'silent' });
      const answer = outcome(write(client, text));
      await cut.settled;
      expect(await isStored(text)).toBe(true);
      expect(await answer).toBe('Query read timeout');
    });
  });

  test('holds a statement for a time', async () => {
    const [text, client] = [newNote(), await connect()];
    const cut = proxy.cutNext({ kind: 'late', holdMilliseconds: 50 });
    expect(await outcome(client.query('INSERT INTO note VALUES ($1)', [text]))).toEqual(lost);
    await cut.settled;
    expect(await isStored(text)).toBe(true);
  });

  test('tells the statements of a pipeline apart', async () => {
    const [first, second, third] = [newNote(), newNote(), newNote()];
    const client = await connect({ pipeline: true } as pg.ClientConfig);
    const cut = proxy.cutNext({ kind: 'after' }, ({ kind }) => kind === 'commit');
    const answers = [
      client.query('INSERT INTO note VALUES ($1)', [first]),
      client.query('BEGIN'),
      client.query('INSERT INTO note VALUES ($1)', [second]),
      client.query('COMMIT'),
      client.query('INSERT INTO note VALUES ($1)', [third]),
    ].map(outcome);
    expect(await Promise.all(answers)).toEqual(['answered', 'answered', 'answered', lost, lost]);
    expect(await cut.settled).toMatchObject({ statements: ['INSERT INTO note VALUES ($1)'] });
    expect(await Promise.all([first, second, third].map(isStored))).toEqual([true, true, false]);
  });

  test('takes no COMMIT of a failed transaction, no read and no part of a transaction for a write', async () => {
    const client = await connect();
    const cut = proxy.cutNext({ kind: 'before' });
    let met = false;
    void cut.met.then(() => {
      met = true;
    });
    const statements = [
      'SELECT 1',
      'BEGIN',
      'SELECT 1/0',
      'COMMIT',
      'BEGIN',
      'UPDATE note SET text = text',
      'ROLLBACK',
      'BEGIN',
      'COMMIT',
    ];
    for (const text of statements) await outcome(client.query(text));
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(met).toBe(false);
  });

  test('selects by application, SQL and name of the statement', async () => {
    const [one, other] = [await connect({ application_name: 'one' }), await connect({ application_name: 'other' })];
    proxy.cutNext({ kind: 'before' }, ({ application, names, statements }) => {
      return application === 'other' && names.includes('find') && statements[0] === 'SELECT $1::int AS found';
    });
    const find = { name: 'find', text: 'SELECT $1::int AS found', values: [1] };
    expect((await one.query(find)).rows).toEqual([{ found: 1 }]);
    expect(await outcome(other.query('SELECT $1::int AS found', [1]))).toBe('answered');
    expect(await outcome(other.query(find))).toEqual(lost);
  });

  test('refuses new connections while it is down', async () => {
    const client = await connect();
    proxy.cutNext({ kind: 'all', at: 'after' });
    expect(await outcome(client.query('INSERT INTO note VALUES ($1)', [newNote()]))).toEqual(lost);
    await expect(connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await proxy.comeUp();
    await (await connect()).query('SELECT 1');
    proxy.goDown(50);
    await expect
      .poll(() =>
        connect().then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('up');
  });

  test('cuts off one of two gateways', async () => {
    const second = await startPostgresProxy(testDatabase.url ?? '');
    onTestFinished(() => second.close());
    const [ours, theirs] = [await connect(), await connect({ connectionString: second.url })];
    proxy.goDown();
    expect(await outcome(ours.query('SELECT 1'))).not.toBe('answered');
    expect(await outcome(theirs.query('SELECT 1'))).toBe('answered');
  });

  test('cuts the same share of writes in the same ways for the same seed', async () => {
    const run = async () => {
      const before = proxy.cuts.length;
      let state = 7;
      const random = () => {
        state = (state * 16_807) % 2_147_483_647;
        return state / 2_147_483_647;
      };
      const end = proxy.cutAtRandom({ random, share: 0.4, ways: [{ kind: 'before' }, { kind: 'after' }] });
      for (let count = 0; count < 30; count++) {
        const client = await connect();
        await outcome(client.query('INSERT INTO note VALUES ($1)', [newNote()]));
        await client.end().catch(() => undefined);
      }
      end();
      return proxy.cuts.slice(before).map(({ way }) => way);
    };
    const first = await run();
    expect(new Set(first)).toEqual(new Set(['before', 'after']));
    expect(first.length).toBeLessThan(30);
    expect(await run()).toEqual(first);
  });

  test('passes large answers, COPY and errors on unchanged', async () => {
    const client = await connect();
    const { rows } = await client.query(`SELECT repeat('x', 1000) AS text FROM generate_series(1, 5000)`);
    expect(rows).toHaveLength(5_000);
    await expect(client.query('SELECT 1/0')).rejects.toMatchObject({ code: '22012' });
    await expect(client.query({ name: 'wrong', text: 'SELECT $1::int', values: ['x'] })).rejects.toThrow();
    expect((await client.query('SELECT $1::int AS one', [1])).rows).toEqual([{ one: 1 }]);
  });
});
