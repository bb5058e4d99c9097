import pg from 'pg';
import { clientsOf } from './clients-of-primary.ts';
import { DatabaseError, errorCode, ofDatabase } from './errors.ts';
import { type DatabaseClient, type DatabasePool, Loan, statementNames } from './pool.ts';
import { acceptsWrites, type PrimaryServer } from './primary-server.ts';
import { DatabaseSession } from './session.ts';
import { spendDatabaseTime } from './time-limit.ts';

/** Milliseconds between attempts to connect to one of several servers. Doubles up to `longestPause`. */
const shortestPause = 50;
const longestPause = 1_000;
/** They do not pass: the user, the password or the database is wrong. */
const lastingFailures = new Set(['28000', '28P01', '3D000']);

interface PoolConfig extends pg.PoolConfig {
  /** Milliseconds to wait for a connection. */
  readonly connectionTimeoutMillis: number;
}

/** A node-postgres pool whose connections behave as described by `DatabaseClient`. */
export class NodePostgresPool implements DatabasePool {
  /** Empty, because the options of the inner pool contain the password. */
  readonly options = {};
  readonly #pool: pg.Pool;
  readonly #sessions = new WeakMap<pg.PoolClient, DatabaseSession>();
  readonly #nameOf = statementNames();
  readonly #primary: PrimaryServer | undefined;
  readonly #timeoutMs: number;
  #observe: ((seconds: number) => void) | undefined;
  #failed: ((error: unknown) => void) | undefined;
  #ended: Promise<void> | undefined;

  /** @param primary several servers, of which one accepts writes. It replaces the connection string. */
  constructor(config: PoolConfig, primary?: PrimaryServer) {
    this.#primary = primary;
    this.#timeoutMs = config.connectionTimeoutMillis;
    this.#pool = new pg.Pool(
      primary ? { ...config, Client: clientsOf(primary), onConnect: requireWrites(config) } : config,
    );
    // The pool has already removed the idle connection. The next checkout creates a new one.
    this.#pool.on('error', () => undefined);
  }

  /**
   * Rejects with an error known to `isConnectionFailure` if the server is unreachable or no connection is free in time. If
   * there are several servers, it tries for as long as it may wait.
   */
  async connect(): Promise<DatabaseClient> {
    const client = await this.#borrow();
    let session = this.#sessions.get(client);
    if (session === undefined) {
      session = new DatabaseSession(client, (error) => this.#failed?.(error));
      this.#sessions.set(client, session);
    }
    const lent = session;
    return new Loan(lent, this.#nameOf, (destroy) => {
      if (destroy || lent.broken) client.release(true);
      else if (lent.clean) client.release();
      else void lent.reset().then((usable) => client.release(!usable));
    });
  }

  async #borrow(): Promise<pg.PoolClient> {
    const asked = performance.now();
    try {
      return await (this.#primary ? this.#retry(this.#primary, asked + this.#timeoutMs) : this.#pool.connect());
    } catch (error) {
      this.#failed?.(error);
      throw ofDatabase(error, 'not sent');
    } finally {
      spendDatabaseTime(asked);
      this.#observe?.((performance.now() - asked) / 1000);
    }
  }

  /** @param deadline by `performance.now()` */
  async #retry(primary: PrimaryServer, deadline: number): Promise<pg.PoolClient> {
    for (let pause = shortestPause; ; pause = Math.min(pause * 2, longestPause)) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        const left = deadline - performance.now();
        if (left <= 0 || this.#ended || lastingFailures.has(errorCode(error) ?? '')) throw error;
        await primary.changed(Math.ceil(Math.min(pause, left)));
      }
    }
  }

  get waiting(): number {
    return this.#pool.waitingCount;
  }

  observeWaits(observe: (seconds: number) => void): void {
    this.#observe = observe;
  }

  observeFailures(observe: (error: unknown) => void): void {
    this.#failed = observe;
  }

  /** Waits until all connections are returned, then closes them. Can be called repeatedly. */
  end(): Promise<void> {
    this.#ended ??= this.#pool.end();
    return this.#ended;
  }
}

function requireWrites({ onConnect }: PoolConfig) {
  return async (client: pg.ClientBase) => {
    if (!(await acceptsWrites(client))) throw new DatabaseError('The server accepts no writes.', '25006');
    await onConnect?.(client);
  };
}
