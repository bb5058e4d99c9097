import type pg from 'pg';
import { addressOf, connectionFault, faultText } from '../log/connection-fault.ts';
import { checkStatements } from './check-statements.ts';
import { DatabaseError, errorCode } from './errors.ts';
import { ping } from './ping.ts';
import type { DatabasePool } from './pool.ts';
import { NodePostgresPool } from './postgres-pool.ts';
import { PrimaryServer } from './primary-server.ts';
import { serverUrls } from './server-urls.ts';
import { types } from './session.ts';
import { troubleOf, troubleWords } from './troubles.ts';

export interface Database {
  readonly kind: 'postgresql' | 'pglite';
  /** Connections for requests. */
  readonly pool: DatabasePool;
  /**
   * Connections for background jobs: messages, recovery, expiry. No pool can exhaust another, except on PGlite, where all
   * share one connection.
   */
  readonly background: DatabasePool;
  /** The connection that publishes events, so that no other job which waits for the database delays them. */
  readonly publishing: DatabasePool;
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
  /** Maximum number of PostgreSQL connections for requests, in addition to those of background jobs. Default 20. */
  readonly maxConnections?: number | undefined;
  /** Milliseconds to wait for the server or for a free connection. */
  readonly connectTimeout?: number | undefined;
}

const defaultConnections = 20;
/** Maximum number of PostgreSQL connections for background jobs. */
const backgroundConnections = 4;

/** Connections to PostgreSQL that one gateway process can use: for requests, for background jobs, to publish. */
export function gatewayConnections(forRequests = defaultConnections): number {
  return forRequests + backgroundConnections + 1;
}

const oldestServer = 15;
/** Milliseconds, by the name of the setting of PostgreSQL. */
export const serverTimeouts = {
  statement_timeout: 30_000,
  /** Another transaction holds the lock for so long only while its COMMIT waits for a standby, or its gateway is stopped. */
  lock_timeout: 5_000,
  /** The server ends the transaction of a gateway that was stopped, and with it its locks. */
  idle_in_transaction_session_timeout: 5_000,
} as const;

/**
 * Connects to PostgreSQL, or opens the embedded database. Throws a `DatabaseError`, or a `ConfigurationError` if the data
 * directory cannot be used. Both say what to do.
 *
 * On PostgreSQL, statements time out after thirty seconds, and after five if they wait for a lock. A transaction in which the
 * gateway sends nothing for five seconds is rolled back. PgBouncer in transaction mode must be version 1.21 or newer, with
 * `statement_timeout`, `lock_timeout` and `idle_in_transaction_session_timeout` in its `ignore_startup_parameters`. An older
 * one is rejected.
 *
 * The embedded database keeps committed data if its process is killed, but can lose data in a power cut, because it
 * never calls fsync. It runs in this process, with one connection and no statement time-out.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl, maxConnections = defaultConnections, connectTimeout = 5_000 } = options;
  if (databaseUrl !== undefined) return await openPostgres(databaseUrl, maxConnections, connectTimeout);
  // Loaded only if it is used, because it is large.
  const { openEmbedded } = await import('./embedded-database.ts').catch(explainMissingPglite);
  return await openEmbedded(options.dataDir);
}

/** `npm install --omit=optional` leaves it out. */
function explainMissingPglite(error: unknown): never {
  if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
  throw new DatabaseError(
    'DATABASE_URL is not set, and the embedded database is not installed. Set DATABASE_URL to that of a PostgreSQL, or install without --omit=optional.',
  );
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
    ...serverTimeouts,
    // Detects a server that no longer responds.
    query_timeout: serverTimeouts.statement_timeout + 5_000,
    types,
    onConnect: (client: pg.ClientBase) => client.query("SET TIME ZONE 'UTC'"),
  };
  const primary = urls.length > 1 ? new PrimaryServer(urls) : undefined;
  const pool = new NodePostgresPool({ ...settings, max }, primary);
  const background = new NodePostgresPool({ ...settings, max: backgroundConnections }, primary);
  const publishing = new NodePostgresPool({ ...settings, max: 1 }, primary);
  const database: Database = {
    kind: 'postgresql',
    pool,
    background,
    publishing,
    ping: () => ping(pool),
    async close() {
      await Promise.all([pool, background, publishing].map((each) => each.end()));
      primary?.close();
    },
  };
  try {
    await checkVersion(pool);
    await checkStatements([pool, background]);
  } catch (error) {
    await database.close();
    throw connectError(error, urls);
  }
  return database;
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

function connectError(error: unknown, urls: readonly string[]): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const code = errorCode(error);
  if (code === 'ERR_INVALID_URL' || error instanceof URIError) {
    return new DatabaseError('The database URL is not a valid URL. Percent-encode special characters of the password.');
  }
  const trouble = troubleOf(error);
  if (trouble) return new DatabaseError(`Cannot connect to PostgreSQL: ${troubleWords[trouble]} (${code})`, code);
  // Messages of the server, the system and the driver contain users, databases and addresses, but no secrets.
  const message = error instanceof Error ? error.message : '';
  const addresses = () => urls.map(addressOf).join(', ');
  // The driver's own time-out has no code.
  const isLate = code === undefined && /timeout/.test(message);
  const reason = isLate
    ? faultText('timeout', addresses())
    : (connectionFault(error)?.text ?? (message || code || 'unknown error'));
  return new DatabaseError(`Cannot connect to PostgreSQL: ${reason}`, code);
}
