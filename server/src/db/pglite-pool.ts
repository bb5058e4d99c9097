import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { DatabaseError, ofDatabase } from './errors.ts';
import { type DatabaseClient, type DatabasePool, Loan, statementNames } from './pool.ts';
import { DatabaseSession, types } from './session.ts';

/** Time-out for a connection. Detects a caller that waits for a second connection while it holds the only one. */
const connectTimeout = 30_000;

interface Waiting {
  readonly give: (client: DatabaseClient) => void;
  readonly reject: (error: Error) => void;
}

/**
 * PGlite has one connection, which this pool gives to one caller at a time, in order of request. It uses one client for
 * the life of the process, because with a node-postgres pool on PGlite a query can get the rows of another one. Nothing
 * else may use the PGlite object meanwhile.
 */
export class PglitePool implements DatabasePool {
  readonly options = {};
  readonly #client: pg.Client;
  readonly #session: DatabaseSession;
  readonly #nameOf = statementNames();
  readonly #waiting = new Set<Waiting>();
  #observe: ((seconds: number) => void) | undefined;
  #failed: ((error: unknown) => void) | undefined;
  #lent = false;
  #closing: PromiseWithResolvers<void> | undefined;

  private constructor(client: pg.Client) {
    this.#client = client;
    this.#session = new DatabaseSession(client, (error) => this.#failed?.(error));
  }

  /** The caller must close the PGlite object after `end`. Throws PGlite's error if it cannot start. */
  static async open(pglite: PGlite): Promise<PglitePool> {
    // Loaded only if it is used.
    const { createPgConfig } = await import('@electric-sql/pglite/node-postgres');
    await pglite.waitReady;
    const client = new pg.Client({ ...createPgConfig(pglite), types } as pg.ClientConfig);
    const pool = new PglitePool(client);
    await client.connect();
    await pool.#session.query({ text: "SET TIME ZONE 'UTC'" });
    return pool;
  }

  /**
   * Rejects with a `DatabaseError` if the pool ends, if the database stopped, or after a wait of thirty seconds.
   */
  connect(): Promise<DatabaseClient> {
    const rejection = this.#rejection();
    if (rejection) return Promise.reject(rejection);
    const asked = performance.now();
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#observe?.((performance.now() - asked) / 1000);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        waiting.reject(ofDatabase(new Error('timeout exceeded when trying to connect'), 'not sent'));
      }, connectTimeout);
      const waiting: Waiting = {
        give: (client) => {
          end();
          resolve(client);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      };
      this.#waiting.add(waiting);
      this.#next();
    });
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  observeWaits(observe: (seconds: number) => void): void {
    this.#observe = observe;
  }

  observeFailures(observe: (error: unknown) => void): void {
    this.#failed = observe;
  }

  /** Rejects waiting callers, waits until the connection is returned, and closes it. */
  async end(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = Promise.withResolvers<void>();
      this.#next();
    }
    await this.#closing.promise;
  }

  #rejection(): Error | undefined {
    if (this.#closing) return ofDatabase(new DatabaseError('The database is closed.', '08003'), 'not sent');
    if (this.#session.broken)
      return ofDatabase(new DatabaseError('The embedded database has stopped working.', '08006'), 'not sent');
    return undefined;
  }

  #next(): void {
    const rejection = this.#rejection();
    if (rejection) {
      for (const waiting of this.#waiting) waiting.reject(rejection);
      this.#waiting.clear();
    }
    if (this.#lent) return;
    if (this.#closing) this.#client.end().then(this.#closing.resolve, this.#closing.reject);
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting);
      this.#lent = true;
      waiting.give(new Loan(this.#session, this.#nameOf, () => void this.#takeBack()));
      return;
    }
  }

  async #takeBack(): Promise<void> {
    if (!this.#session.clean) await this.#session.reset();
    this.#lent = false;
    this.#next();
  }
}
