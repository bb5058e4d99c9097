import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from './database.ts';
import { DatabaseError, errorCode, isLockTimeout, isSerializationFailure } from './errors.ts';
import type { DatabaseClient } from './pool.ts';

/** A folder of numbered SQL files (`000001_words.sql`, …), applied in order and never changed. */
export interface MigrationSet {
  readonly name: string;
  readonly folder: URL;
}

interface Migration {
  readonly set: string;
  readonly version: number;
  readonly name: string;
  readonly sha256: string;
  readonly sql: string;
}

type Applied = Omit<Migration, 'sql'>;

type Completions = ReadonlyMap<string, (client: DatabaseClient) => Promise<void>>;

/** Arbitrary id of the advisory lock, the same in every gateway. */
const advisoryLock = 7_236_817_205_533_341;
/** Milliseconds. */
const longestMigration = 6 * 3_600_000;
/**
 * Milliseconds that a migration waits for a table: at most half of the time after which PostgreSQL looks for deadlocks
 * (`deadlock_timeout`), so that the migration gives way before a transaction of a working gateway is ended. Others that want
 * the table wait behind it for as long.
 */
const longestLockWait = 500;
/** Milliseconds between attempts, in which what waited behind the migration goes on. */
const pauseForOthers = 250;
/** Milliseconds. A transaction of a gateway ends within seconds. */
const longestLockMs = 10 * 60_000;

/**
 * Applies missing migrations, each in a transaction of its own, under a lock that other starting gateways wait for. Gateways of
 * the previous release can work meanwhile: a migration that cannot lock a table at once is rolled back and repeated. Ignores sets
 * in the database that are not named. Throws a `DatabaseError` if the numbers have a gap, an applied file was changed, the
 * database is newer than the files, or a statement fails: the migrations before it stay.
 *
 * @param lockMs milliseconds in which a migration is repeated while others have locked its tables
 * @param completed what SQL cannot do, in the transaction of a migration, by its set and number: `crossward/36`
 */
export async function migrate(
  database: Database,
  sets: readonly MigrationSet[],
  lockMs = longestLockMs,
  completed: Completions = new Map(),
): Promise<void> {
  const migrations = await load(sets);
  const client = await database.pool.connect();
  try {
    if (pending(migrations, await readApplied(client)).length === 0) return;
    while (await applyNext(client, migrations, lockMs, completed));
  } catch (error) {
    throw errorCode(error) === '42501' && !(error instanceof DatabaseError)
      ? lacksRight('The migrations', error)
      : error;
  } finally {
    client.release();
  }
}

/** Applies the next migration. Returns `false` if there was none. Another gateway may have applied some meanwhile. */
async function applyNext(
  client: DatabaseClient,
  migrations: readonly Migration[],
  lockMs: number,
  completed: Completions,
): Promise<boolean> {
  const giveUpAt = performance.now() + lockMs;
  for (;;) {
    try {
      await begin(client);
      const [next] = pending(migrations, await readApplied(client));
      if (next) {
        await apply(client, next);
        await completed.get(keyOf(next))?.(client);
      }
      await client.query('COMMIT');
      return next !== undefined;
    } catch (error) {
      await client.query('ROLLBACK');
      if (!isLockTimeout(error) && !isSerializationFailure(error)) throw error;
      if (performance.now() > giveUpAt) throw stillLocked(error, lockMs);
      await sleep(pauseForOthers * (1 + Math.random()));
    }
  }
}

async function begin(client: DatabaseClient): Promise<void> {
  await client.query('BEGIN');
  await client.query('SET LOCAL statement_timeout = 0');
  await client.query('SET LOCAL lock_timeout = 0');
  await client.query({
    text: 'SELECT pg_advisory_xact_lock($1)',
    values: [advisoryLock],
    query_timeout: longestMigration,
  });
  const { rows } = await client.query<{ deadlock: number }>(
    "SELECT setting::int AS deadlock FROM pg_settings WHERE name = 'deadlock_timeout'",
  );
  const wait = Math.min(longestLockWait, Math.floor((rows[0]?.deadlock ?? longestLockWait) / 2));
  await client.query(`SET LOCAL lock_timeout = ${Math.max(wait, 1)}`);
  await client.query(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
      set text NOT NULL,
      version integer NOT NULL,
      name text NOT NULL,
      sha256 text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (set, version)
    )`,
  );
}

function stillLocked(error: unknown, lockMs: number): DatabaseError {
  const text = error instanceof Error ? error.message : '';
  return new DatabaseError(
    `${text} For ${Math.round(lockMs / 60_000)} minutes, other transactions have held a table that it needs. Find them in ` +
      'pg_stat_activity (xact_start, state), end them, and start the gateway again: it continues where it stopped.',
    '55P03',
  );
}

/**
 * Whether all files are applied unchanged. A newer database counts too, so that old gateways stay ready during a rolling
 * update. Throws the errors of the pool.
 */
export async function migrationsApplied(database: Database, sets: readonly MigrationSet[]): Promise<boolean> {
  const migrations = await load(sets);
  const client = await database.pool.connect();
  try {
    const applied = byKey(await readApplied(client));
    return migrations.every((migration) => applied.get(keyOf(migration))?.sha256 === migration.sha256);
  } finally {
    client.release();
  }
}

/**
 * How many migrations the next start of a gateway applies. Throws a `DatabaseError` if it could not, because the database and
 * the files disagree.
 */
export async function missingMigrations(database: Database, sets: readonly MigrationSet[]): Promise<number> {
  const migrations = await load(sets);
  const client = await database.pool.connect();
  try {
    return pending(migrations, await readApplied(client)).length;
  } finally {
    client.release();
  }
}

async function load(sets: readonly MigrationSet[]): Promise<Migration[]> {
  const names = new Set(sets.map((set) => set.name));
  if (names.size < sets.length) throw new DatabaseError('Two sets of migrations have the same name.');
  return (await Promise.all(sets.map(loadSet))).flat();
}

async function loadSet({ name: set, folder }: MigrationSet): Promise<Migration[]> {
  const base = folder.href.endsWith('/') ? folder : new URL(`${folder.href}/`);
  const files = (await namesIn(base, set)).filter((file) => file.endsWith('.sql')).sort();
  return await Promise.all(
    files.map(async (file, index) => {
      const [, digits, name] = /^(\d{6})_([a-z0-9_]+)\.sql$/.exec(file) ?? [];
      if (digits === undefined || name === undefined) {
        throw new DatabaseError(`Migration ${set}/${file} is not named like 000001_words.sql.`);
      }
      const version = index + 1;
      if (Number(digits) !== version) {
        throw new DatabaseError(
          `Migrations of ${set} are not numbered 1, 2, 3, …: ${file} should be number ${version}.`,
        );
      }
      // Normalise line endings, so that the checksum does not depend on the checkout.
      const sql = (await readFile(new URL(file, base), 'utf8')).replaceAll('\r\n', '\n');
      return { set, version, name, sha256: createHash('sha256').update(sql).digest('hex'), sql };
    }),
  );
}

async function namesIn(folder: URL, set: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    // A plug-in was packed without its SQL files.
    const code = errorCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    throw new DatabaseError(`The connector ${set} has no folder of migrations at ${fileURLToPath(folder)}.`, code);
  }
}

async function readApplied(client: DatabaseClient): Promise<Applied[]> {
  const found = await client.query<{ there: boolean }>("SELECT to_regclass('schema_migrations') IS NOT NULL AS there");
  if (found.rows[0]?.there !== true) return [];
  return (await client.query<Applied>('SELECT set, version, name, sha256 FROM schema_migrations')).rows;
}

const keyOf = ({ set, version }: Applied) => `${set}/${version}`;
const byKey = (applied: readonly Applied[]) => new Map(applied.map((one) => [keyOf(one), one]));

/** The migrations still to be applied. Throws if the database and the files disagree. */
function pending(migrations: readonly Migration[], applied: readonly Applied[]): Migration[] {
  const files = byKey(migrations);
  const sets = new Set(migrations.map(({ set }) => set));
  for (const one of applied) {
    if (!sets.has(one.set)) continue;
    const label = `${one.set}/${String(one.version).padStart(6, '0')}_${one.name}`;
    const file = files.get(keyOf(one));
    if (file === undefined) {
      throw new DatabaseError(`The database is newer than this version of Crossward: it has migration ${label}.`);
    }
    if (file.sha256 !== one.sha256) {
      throw new DatabaseError(`Migration ${label} is applied, but its file has changed since.`);
    }
  }
  const done = byKey(applied);
  const open = migrations.filter((migration) => !done.has(keyOf(migration)));
  for (const one of open) {
    if (done.has(keyOf({ ...one, version: one.version + 1 }))) {
      throw new DatabaseError(`The database lacks migration ${keyOf(one)}, though it has a later one.`);
    }
  }
  return open;
}

async function apply(client: DatabaseClient, { set, version, name, sha256, sql }: Migration): Promise<void> {
  const label = `Migration ${set}/${String(version).padStart(6, '0')}_${name}`;
  try {
    const before = await transactionId(client);
    await client.query({ text: sql, query_timeout: longestMigration });
    if ((await transactionId(client)) !== before) throw new DatabaseError(`${label} must not end the transaction.`);
    await client.query('INSERT INTO schema_migrations (set, version, name, sha256) VALUES ($1, $2, $3, $4)', [
      set,
      version,
      name,
      sha256,
    ]);
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined || !(error instanceof Error) || error instanceof DatabaseError) throw error;
    if (code === '42501') throw lacksRight(label, error);
    throw new DatabaseError(`${label} failed: ${error.message}`, code);
  }
}

async function transactionId(client: DatabaseClient): Promise<string | undefined> {
  const { rows } = await client.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
  return rows[0]?.id;
}

function lacksRight(label: string, error: unknown): DatabaseError {
  const reason = error instanceof Error ? error.message : '';
  return new DatabaseError(
    `${label} cannot be applied, because the PostgreSQL user lacks a right (${reason}). It must own the database, or an ` +
      'administrator must create the extension btree_gist and grant CREATE on the schema.',
    '42501',
  );
}
