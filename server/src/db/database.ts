import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { btree_gist } from '@electric-sql/pglite/contrib/btree_gist';
import pg from 'pg';
import { makePrivateFolder } from '../startup/private-file.ts';
import { clientsOf } from './clients-of-primary.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { DatabaseError, errorCode } from './errors.ts';
import { PglitePool } from './pglite-pool.ts';
import type { DatabasePool } from './pool.ts';
import { NodePostgresPool } from './postgres-pool.ts';
import { acceptsWrites, PrimaryServer } from './primary-server.ts';
import { serverUrls } from './server-urls.ts';
import { types } from './types.ts';

export interface Database {
  readonly kind: 'postgresql' | 'pglite';
  /** Connections for requests. */
  readonly pool: DatabasePool;
  /**
   * Connections for background jobs: messages, recovery, expiry. Neither pool can exhaust the other, except on PGlite,
   * where both share one connection.
   */
  readonly background: DatabasePool;
  /** Connects for LISTEN, outside the pools. PostgreSQL only. */
  readonly connectToListen?: (() => Promise<pg.Client>) | undefined;
  /** Makes one round trip. Throws the errors of the pool. */
  ping(): Promise<void>;
  /** Waits for running queries, then closes. Can be called repeatedly. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /**
   * `postgresql://…`, with several hosts if it has `target_session_attrs=read-write`. Its parameters (`sslmode`, `statement_timeout`, …) override the
   * gateway's. Without it: PGlite.
   */
  readonly databaseUrl?: string | undefined;
  /** The embedded database is stored in its subfolder `pglite`. */
  readonly dataDir: string;
  /** Maximum number of PostgreSQL connections for requests, in addition to `backgroundConnections`. Default 20. */
  readonly maxConnections?: number | undefined;
  /** Milliseconds to wait for the server or for a free connection. */
  readonly connectTimeout?: number | undefined;
}

const defaultConnections = 20;
/** Maximum number of PostgreSQL connections for background jobs. */
const backgroundConnections = 4;

const oldestServer = 15;
const statementTimeout = 30_000;
const idleTransactionTimeout = 60_000;

/**
 * Connects to PostgreSQL, or opens the embedded database. Throws a `DatabaseError`, or a `ConfigurationError` if the data
 * directory cannot be used. Both say what to do.
 *
 * On PostgreSQL, statements time out after thirty seconds. PgBouncer in transaction mode must be version 1.21 or newer,
 * with `statement_timeout` and `idle_in_transaction_session_timeout` in its `ignore_startup_parameters`.
 *
 * The embedded database keeps committed data if its process is killed, but can lose data in a power cut, because it
 * never calls fsync. It runs in this process, with one connection and no statement time-out.
 */
export function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.databaseUrl === undefined
    ? openEmbedded(options.dataDir)
    : openPostgres(options.databaseUrl, options.maxConnections ?? defaultConnections, options.connectTimeout ?? 5_000);
}

async function openPostgres(databaseUrl: string, max: number, connectTimeout: number): Promise<Database> {
  if (!/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw new DatabaseError('The database URL must begin with postgresql://.');
  }
  const urls = serverUrls(databaseUrl);
  const settings = {
    connectionString: databaseUrl,
    application_name: 'crossward',
    connectionTimeoutMillis: connectTimeout,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    statement_timeout: statementTimeout,
    idle_in_transaction_session_timeout: idleTransactionTimeout,
    // Detects a server that no longer responds.
    query_timeout: statementTimeout + 5_000,
    types,
    onConnect: (client: pg.ClientBase) => client.query("SET TIME ZONE 'UTC'"),
  };
  const primary = urls.length > 1 ? new PrimaryServer(urls) : undefined;
  const pool = new NodePostgresPool({ ...settings, max }, primary);
  const background = new NodePostgresPool({ ...settings, max: backgroundConnections }, primary);
  const database: Database = {
    kind: 'postgresql',
    pool,
    background,
    connectToListen: () => connectToListen(databaseUrl, primary, connectTimeout),
    ping: () => ping(pool),
    async close() {
      await Promise.all([pool.end(), background.end()]);
      primary?.close();
    },
  };
  try {
    await checkVersion(pool);
  } catch (error) {
    await database.close();
    throw connectError(error);
  }
  return database;
}

async function connectToListen(
  connectionString: string,
  primary: PrimaryServer | undefined,
  connectionTimeoutMillis: number,
): Promise<pg.Client> {
  const Client = primary ? clientsOf(primary) : pg.Client;
  const client = new Client({
    connectionString,
    application_name: 'crossward notifications',
    connectionTimeoutMillis,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // Without a listener, an error event ends the process. An `end` event follows it.
  client.on('error', () => undefined);
  try {
    await client.connect();
    if (!primary || (await acceptsWrites(client))) return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  await client.end();
  throw new DatabaseError('The server accepts no writes.', '25006');
}

async function checkVersion(pool: DatabasePool): Promise<void> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ server_version_num: string }>('SHOW server_version_num', []);
    const version = Math.floor(Number(rows[0]?.server_version_num) / 10_000);
    if (!(version >= oldestServer)) {
      throw new DatabaseError(`PostgreSQL ${oldestServer} or newer is needed; the server is version ${version}.`);
    }
  } finally {
    client.release();
  }
}

function connectError(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const code = errorCode(error);
  if (code === 'ERR_INVALID_URL' || error instanceof URIError) {
    return new DatabaseError('The database URL is not a valid URL. Percent-encode special characters of the password.');
  }
  // Messages of the server, the system and the driver contain users, databases and addresses, but no secrets.
  const message = error instanceof Error ? error.message : '';
  const reason = code === 'ECONNREFUSED' ? 'connection refused' : message || code || 'unknown error';
  return new DatabaseError(`Cannot connect to PostgreSQL: ${reason}`, code);
}

/** Path of the embedded database in a data directory. */
export function embeddedFiles(dataDir: string): string {
  return join(dataDir, 'pglite');
}

async function openEmbedded(dataDir: string): Promise<Database> {
  const folder = resolve(dataDir);
  await makePrivateFolder(folder);
  const lock = await lockDataDir(folder);
  try {
    const files = embeddedFiles(folder);
    if (!existsSync(files)) await initialise(files);
    // PGlite creates files that every user can access.
    await makePrivateFolder(files);
    const database = await pgliteDatabase(startPglite({ dataDir: files }));
    const close = once(() => database.close().finally(() => lock.release()));
    return { ...database, close };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Creates the files in a temporary folder and renames it, because PGlite cannot open partially created files. */
async function initialise(files: string): Promise<void> {
  const draft = `${files}.new`;
  await rm(draft, { recursive: true, force: true });
  const pglite = startPglite({ dataDir: draft });
  await pglite.waitReady;
  await pglite.close();
  await rename(draft, files);
}

/**
 * A PGlite with the extensions that migrations use: on disk, in memory, or in memory from a dump.
 *
 * @internal tests use it in memory
 */
export function startPglite(options: { dataDir?: string; loadDataDir?: Blob }): PGlite {
  return new PGlite({ ...options, extensions: { btree_gist } });
}

/**
 * A database on the given PGlite, which `close` closes too.
 *
 * @internal tests use it in memory
 */
export async function pgliteDatabase(pglite: PGlite): Promise<Database> {
  const pool = await PglitePool.open(pglite);
  const close = once(() => pool.end().then(() => pglite.close()));
  return { kind: 'pglite', pool, background: pool, ping: () => ping(pool), close };
}

async function ping(pool: DatabasePool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('SELECT 1', []);
  } finally {
    client.release();
  }
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run();
    return running;
  };
}
