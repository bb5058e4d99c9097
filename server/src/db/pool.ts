import { createHash } from 'node:crypto';
import type { PostgresCursor, PostgresPool, PostgresPoolClient } from 'kysely';
import type { DatabaseSession, QueryConfig } from './session.ts';

export interface QueryResult<Row> {
  /** The command tag from PostgreSQL. Others (`BEGIN`, `CREATE`, …) occur but are not typed. */
  readonly command: 'UPDATE' | 'DELETE' | 'INSERT' | 'SELECT' | 'MERGE';
  /** Number of rows changed or returned; null for statements without a count. */
  readonly rowCount: number;
  readonly rows: Row[];
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

/** A connection checked out of a pool. It is exclusive until it is released, and rejects queries afterwards. */
export interface DatabaseClient extends PostgresPoolClient {
  /** Without values, the text can contain several statements. The result is then an array of results. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<QueryResult<Row>>;
  query<Row>(config: QueryConfig): Promise<QueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  /**
   * Returns the connection to the pool and rolls back an open transaction. Call it once. Session state (SET, LISTEN,
   * temporary tables) stays with the connection. With `true` or an error, a PostgreSQL connection is closed instead.
   */
  release(destroy?: boolean | Error): void;
}

/**
 * Implements Kysely's `PostgresDialect` pool and a connector's `SqlPool`. Callers get connections in order of request.
 */
export interface DatabasePool extends PostgresPool {
  /** Number of callers waiting for a connection. */
  readonly waiting: number;
  connect(): Promise<DatabaseClient>;
  /** Reports the seconds that each `connect` waited, whether it succeeded or not. Supports one observer: the last one. */
  observeWaits(observe: (seconds: number) => void): void;
  /** Reports each error of the server or of the connection to it. Supports one observer: the last one. */
  observeFailures(observe: (error: unknown) => void): void;
}

/** One checkout of a connection. */
export class Loan implements DatabaseClient {
  #session: DatabaseSession | undefined;
  readonly #nameOf: (text: string) => string | undefined;
  readonly #onRelease: (destroy: boolean) => void;

  constructor(
    session: DatabaseSession,
    nameOf: (text: string) => string | undefined,
    onRelease: (destroy: boolean) => void,
  ) {
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

const mostNames = 200;
const maxCandidates = 1_000;

/**
 * Names statements from their second use on, so that connections prepare them. The name depends only on the text, so
 * that gateways behind one pooler agree. At most 200 texts get a name, because each prepared statement uses server
 * memory on every connection.
 */
export function statementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>();
  const candidates = new Set<string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined || names.size >= mostNames) return known;
    if (!candidates.delete(text)) {
      if (candidates.size >= maxCandidates) candidates.clear();
      candidates.add(text);
      return undefined;
    }
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 22);
    names.set(text, name);
    return name;
  };
}
