import pg from 'pg';
import { ofDatabase } from './errors.ts';
import { type DatabaseClient, type DatabasePool, Loan } from './pool.ts';
import { Session } from './session.ts';
import { statementNames } from './statement-names.ts';

/** A pool of node-postgres whose loans are prepared, named and rolled back as `DatabaseClient` says. */
export class NodePostgresPool implements DatabasePool {
  /** Not those of the pool inside, which hold the password. */
  readonly options = {};
  readonly #pool: pg.Pool;
  readonly #sessions = new WeakMap<pg.PoolClient, Session>();
  readonly #nameOf = statementNames();
  #observe: ((seconds: number) => void) | undefined;
  #ended: Promise<void> | undefined;

  constructor(config: pg.PoolConfig) {
    this.#pool = new pg.Pool(config);
    // The pool has dropped the idle connection already; the next loan makes a new one.
    this.#pool.on('error', () => undefined);
  }

  /** Rejects with an error that `isConnectionFailure` knows when there is no server or no connection comes free in time. */
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

  /** Waits until every loan is back, then closes the connections. May be called again. */
  end(): Promise<void> {
    this.#ended ??= this.#pool.end();
    return this.#ended;
  }
}
