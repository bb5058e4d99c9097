import pg from 'pg';
import { ofDatabase } from './errors.ts';
import { type DatabaseClient, type DatabasePool, Loan } from './pool.ts';
import { Session } from './session.ts';
import { statementNames } from './statement-names.ts';

/** A node-postgres pool whose connections behave as described by `DatabaseClient`. */
export class NodePostgresPool implements DatabasePool {
  /** Empty, because the options of the inner pool contain the password. */
  readonly options = {};
  readonly #pool: pg.Pool;
  readonly #sessions = new WeakMap<pg.PoolClient, Session>();
  readonly #nameOf = statementNames();
  #observe: ((seconds: number) => void) | undefined;
  #ended: Promise<void> | undefined;

  constructor(config: pg.PoolConfig) {
    this.#pool = new pg.Pool(config);
    // The pool has already removed the idle connection. The next checkout creates a new one.
    this.#pool.on('error', () => undefined);
  }

  /** Rejects with an error known to `isConnectionFailure` if the server is unreachable or no connection is free in time. */
  async connect(): Promise<DatabaseClient> {
    const client = await this.#borrow();
    let session = this.#sessions.get(client);
    if (session === undefined) {
      session = new Session(client);
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
      return await this.#pool.connect();
    } catch (error) {
      throw ofDatabase(error);
    } finally {
      this.#observe?.((performance.now() - asked) / 1000);
    }
  }

  get waiting(): number {
    return this.#pool.waitingCount;
  }

  observeWaits(observe: (seconds: number) => void): void {
    this.#observe = observe;
  }

  /** Waits until all connections are returned, then closes them. Can be called repeatedly. */
  end(): Promise<void> {
    this.#ended ??= this.#pool.end();
    return this.#ended;
  }
}
