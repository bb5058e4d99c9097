import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { connectTimeout, createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { type Database, openDatabase } from './database.ts';
import { DatabaseError } from './errors.ts';
import { type MigrationSet, migrate, migrationsApplied } from './migrate.ts';
import { migrationSets } from './migration-sets.ts';

let test: TestDatabase;
let database: Database;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossward-migrations-'));
  test = await createTestDatabase(undefined, 'empty');
  database = test.database;
});
afterEach(async () => {
  await test.dispose();
  await rm(folder, { recursive: true });
});

async function makeSet(name: string, files: Record<string, string>): Promise<MigrationSet> {
  const path = join(folder, name);
  await rm(path, { recursive: true, force: true });
  await mkdir(path);
  for (const [file, sql] of Object.entries(files)) await writeFile(join(path, file), sql);
  return { name, folder: pathToFileURL(path) };
}

async function rows(text: string, from = database): Promise<unknown[]> {
  const client = await from.pool.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    client.release();
  }
}

const first = { '000001_first.sql': 'CREATE TABLE one (id integer); INSERT INTO one VALUES (1), (2);' };
const second = { ...first, '000002_second.sql': 'ALTER TABLE one ADD COLUMN more text;\nCREATE TABLE two ();' };

it('applies pending migrations once, set by set', async () => {
  const early = [await makeSet('gateway', first)];
  expect(await migrationsApplied(database, early)).toBe(false);
  await migrate(database, early);
  expect(await migrationsApplied(database, early)).toBe(true);
  const late = [
    await makeSet('gateway', second),
    await makeSet('other', { '000001_first.sql': 'CREATE TABLE three ()' }),
  ];
  expect(await migrationsApplied(database, late)).toBe(false);
  await migrate(database, late);
  await migrate(database, late);
  expect(await migrationsApplied(database, late)).toBe(true);
  expect(await rows('SELECT id, more FROM one')).toEqual([
    { id: 1, more: null },
    { id: 2, more: null },
  ]);
  expect(await rows('SELECT set, version, name FROM schema_migrations ORDER BY set, version')).toEqual([
    { set: 'gateway', version: 1, name: 'first' },
    { set: 'gateway', version: 2, name: 'second' },
    { set: 'other', version: 1, name: 'first' },
  ]);
});

it('applies the migrations of the gateway', async () => {
  const sets = migrationSets([]);
  await migrate(database, sets);
  expect(await migrationsApplied(database, sets)).toBe(true);
  expect(await rows("SELECT extname FROM pg_extension WHERE extname = 'btree_gist'")).toHaveLength(1);
});

/** The last file without the rule below. */
const lastUnordered = 34;

it('changes several tables that exist already in one order', async () => {
  const [own] = migrationSets([]);
  const tablesBefore = new Set<string>();
  for (const file of (await readdir(own?.folder ?? '')).filter((it) => it.endsWith('.sql')).sort()) {
    const sql = (await readFile(new URL(file, own?.folder), 'utf8')).replaceAll(/--.*$/gm, '');
    const named = (pattern: RegExp) => [...sql.matchAll(pattern)].map(([, table = '']) => table);
    const changes = new Set([
      ...named(/^ *(?:ALTER TABLE|DROP TABLE|LOCK TABLE|UPDATE|DELETE FROM) (?:ONLY )?(\w+)/gm),
      ...named(/^ *CREATE (?:UNIQUE )?INDEX[^;]*? ON (\w+)/gm),
    ]);
    const changed = [...changes].filter((it) => tablesBefore.has(it)).sort();
    if (Number(file.slice(0, 6)) > lastUnordered && changed.length > 1) {
      expect({ file, sql }).toMatchObject({ sql: expect.stringContaining(`LOCK TABLE ${changed.join(', ')} IN `) });
    }
    for (const table of named(/^ *CREATE (?:UNLOGGED )?TABLE (\w+)/gm)) tablesBefore.add(table);
  }
});

it('rejects a database that is newer', async () => {
  await migrate(database, [await makeSet('gateway', second)]);
  const older = [await makeSet('gateway', first)];
  await expect(migrate(database, older)).rejects.toThrow(
    new DatabaseError('The database is newer than this version of Crossward: it has migration gateway/000002_second.'),
  );
  expect(await migrationsApplied(database, older)).toBe(true);
});

it('rejects a changed file but ignores line endings', async () => {
  await migrate(database, [await makeSet('gateway', second)]);
  const windows = { ...first, '000002_second.sql': second['000002_second.sql'].replaceAll('\n', '\r\n') };
  await migrate(database, [await makeSet('gateway', windows)]);
  const changed = [await makeSet('gateway', { ...second, '000001_first.sql': 'CREATE TABLE one ()' })];
  await expect(migrate(database, changed)).rejects.toThrow('Migration gateway/000001_first is applied, but its file');
  expect(await migrationsApplied(database, changed)).toBe(false);
});

it('ignores unknown sets', async () => {
  await migrate(database, [
    await makeSet('gateway', first),
    await makeSet('other', { '000001_first.sql': 'SELECT 1' }),
  ]);
  await migrate(database, [await makeSet('gateway', second)]);
});

describe('rejects files', () => {
  const cases: [string, Record<string, string>, RegExp][] = [
    ['with a gap', { ...first, '000003_third.sql': '' }, /000003_third.sql should be number 2/],
    ['with a duplicate number', { ...first, '000001_other.sql': '' }, /should be number 2/],
    ['that do not start with 1', { '000002_second.sql': '' }, /should be number 1/],
    ['with invalid names', { '1-first.sql': '' }, /not named like/],
  ];
  it.each(cases)('%s', async (_, files, message) => {
    await expect(migrate(database, [await makeSet('gateway', files)])).rejects.toThrow(message);
  });

  it('of two sets with one name', async () => {
    const set = await makeSet('gateway', first);
    await expect(migrate(database, [set, set])).rejects.toThrow('same name');
  });
});

it('leaves nothing of a migration that fails, and continues with it later', async () => {
  const broken = { ...first, '000002_broken.sql': 'CREATE TABLE two (); SELECT 1 / 0;' };
  await expect(migrate(database, [await makeSet('gateway', broken)])).rejects.toThrow(
    new DatabaseError('Migration gateway/000002_broken failed: division by zero', '22012'),
  );
  // Each has a transaction of its own, so that none holds the locks of another.
  expect(await rows("SELECT to_regclass('two') AS two, version FROM schema_migrations")).toEqual([
    { two: null, version: 1 },
  ]);
  await migrate(database, [await makeSet('gateway', second)]);
  expect(await rows("SELECT to_regclass('two') IS NOT NULL AS two")).toEqual([{ two: true }]);
});

it('rejects a migration that ends the transaction', async () => {
  const ending = { '000001_ending.sql': 'CREATE TABLE one (); COMMIT;' };
  await expect(migrate(database, [await makeSet('gateway', ending)])).rejects.toThrow('must not end the transaction');
});

if (inject('databaseKind') === 'postgresql')
  describe('with several gateways', () => {
    it('migrates once if ten gateways start at the same time', async () => {
      const set = await makeSet('gateway', {
        ...first,
        '000002_slow.sql': 'SELECT pg_sleep(0.3); INSERT INTO one VALUES (3);',
      });
      const gateways = await Promise.all(
        Array.from({ length: 10 }, () => openDatabase({ databaseUrl: test.url, dataDir: folder, connectTimeout })),
      );
      const sets = [...migrationSets([]), set];
      await Promise.all(gateways.map((gateway) => migrate(gateway, sets)));
      expect(await Promise.all(gateways.map((gateway) => migrationsApplied(gateway, sets)))).toEqual(
        Array(10).fill(true),
      );
      await Promise.all(gateways.map((gateway) => gateway.close()));
      expect(await rows('SELECT id FROM one ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    });

    it('waits for a table that others use, without ending their transactions', async () => {
      await migrate(database, [
        await makeSet('gateway', { '000001_two.sql': 'CREATE TABLE a (); CREATE TABLE b ();' }),
      ]);
      const next = await makeSet('gateway', {
        '000001_two.sql': 'CREATE TABLE a (); CREATE TABLE b ();',
        '000002_change.sql': 'ALTER TABLE a ADD COLUMN more text; ALTER TABLE b ADD COLUMN more text;',
      });
      // It has b, and wants a while the migration has a and wants b.
      const other = await openDatabase({ databaseUrl: test.url, dataDir: folder, connectTimeout });
      const client = await other.pool.connect();
      await client.query('BEGIN');
      await client.query('SELECT FROM b');
      const migrated = migrate(database, [next]);
      const waitingFor = async (table: string) =>
        (await rows(`SELECT FROM pg_locks WHERE NOT granted AND relation = '${table}'::regclass`, other)).length;
      await expect.poll(() => waitingFor('b'), { interval: 5 }).toBe(1);
      await client.query('SELECT FROM a');
      await expect.poll(() => waitingFor('a'), { interval: 5 }).toBe(1);
      await client.query('COMMIT');
      client.release();
      await migrated;
      expect(await migrationsApplied(database, [next])).toBe(true);
      await other.close();
    });

    it('says what to do if a table stays locked', async () => {
      await migrate(database, [await makeSet('gateway', first)]);
      const other = await openDatabase({ databaseUrl: test.url, dataDir: folder, connectTimeout });
      const client = await other.pool.connect();
      await client.query('BEGIN');
      await client.query('SELECT FROM one');
      const locked = migrate(database, [await makeSet('gateway', second)], 0);
      await expect(locked).rejects.toThrow(/000002_second failed: .*lock timeout.* pg_stat_activity/);
      client.release();
      await other.close();
      await migrate(database, [await makeSet('gateway', second)]);
    });

    it('names the missing privilege of the user', async () => {
      const role = `weak_${Date.now()}`;
      await rows(`CREATE ROLE ${role} LOGIN PASSWORD 'weak'`);
      const url = new URL(test.url ?? '');
      url.username = role;
      url.password = 'weak';
      const weak = await openDatabase({ databaseUrl: url.href, dataDir: folder, connectTimeout });
      await expect(migrate(weak, migrationSets([]))).rejects.toThrow(/lacks a right .*schema public/);
      await rows(`GRANT CREATE ON SCHEMA public TO ${role}`);
      await expect(migrate(weak, migrationSets([]))).rejects.toThrow(
        /000001_extensions cannot be applied.* lacks a right .*btree_gist/,
      );
      await weak.close();
      await rows(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    });
  });
