import type { PostgresCursor, PostgresPool, PostgresPoolClient } from 'kysely';
import type { QueryConfig, Session } from './session.ts';

export interface QueryResult<Row> {
  /** The first words that PostgreSQL answers with: others (`BEGIN`, `CREATE`, …) come too, as far as types go unseen. */
  readonly command: 'UPDATE' | 'DELETE' | 'INSERT' | 'SELECT' | 'MERGE';
  /** Rows changed or answered; null for statements that count none. */
  readonly rowCount: number;
  readonly rows: Row[];
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

/** A connection on loan. Nobody else uses it until it is released; afterwards it refuses every query. */
export interface DatabaseClient extends PostgresPoolClient {
  /** Without values the text may hold several statements; the result is then an array of results. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<QueryResult<Row>>;
  query<Row>(config: QueryConfig): Promise<QueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  /**
   * Gives the connection back, once; rolls back what is still open. What was set for the session (SET, LISTEN, temporary
   * tables) stays with the connection. `true` or an error: the connection is closed instead, where there are several.
   */
  release(destroy?: boolean | Error): void;
}

/** Serves Kysely's `PostgresDialect` and a connector's `SqlPool`. `connect` waits for its turn, first come, first served. */
export interface DatabasePool extends PostgresPool {
  /** How many wait for a connection now. */
  readonly waiting: number;
  connect(): Promise<DatabaseClient>;
  /** Tells how many seconds each `connect` has waited, in vain or not. Of several observers, the last one is told. */
  observeWaits(observe: (seconds: number) => void): void;
}

/** One loan of a connection. */
export class Loan implements DatabaseClient {
  #session: Session | undefined;
  readonly #nameOf: (text: string) => string | undefined;
  readonly #onRelease: (destroy: boolean) => void;

  constructor(session: Session, nameOf: (text: string) => string | undefined, onRelease: (destroy: boolean) => void) {
    this.#session = session;
    this.#nameOf = nameOf;
    this.#onRelease = onRelease;
  }

  query<Row>(text: string, values?: readonly unknown[]): Promise<QueryResult<Row>>;
  query<Row>(config: QueryConfig): Promise<QueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query(
    query: string | QueryConfig | PostgresCursor<unknown>,
    values?: readonly unknown[],
  ): Promise<unknown> | PostgresCursor<unknown> {
    if (this.#session === undefined) return Promise.reject(new Error('The database client has been released.'));
    const config = typeof query === 'string' ? { text: query, values } : query;
    if (!('text' in config)) throw new TypeError('Cursors are not supported.');
    const named = config.name === undefined && config.values !== undefined && config.values.length > 0;
    const name = named ? this.#nameOf(config.text) : undefined;
    return this.#session.query(name === undefined ? config : { ...config, name });
  }

  release(destroy: boolean | Error = false): void {
    if (this.#session === undefined) throw new Error('The database client has been released already.');
    this.#session.endLoan();
    this.#session = undefined;
    this.#onRelease(destroy !== false);
  }
}
