import pg from 'pg';
import { tracing } from '../telemetry/tracing.ts';
import { errorCode, isStaleStatement, ofDatabase } from './errors.ts';
import type { Effect } from './failure-table.ts';
import { databaseTimeLeft, spendDatabaseTime, withinTime } from './time-limit.ts';

export interface QueryConfig {
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
  /** Name of the prepared statement. */
  readonly name?: string | undefined;
  /** `array`: each row as an array of its columns. */
  readonly rowMode?: 'array' | undefined;
  /** Milliseconds. Overrides the time-out of the pool and of the request. */
  readonly query_timeout?: number | undefined;
}

/** What the type declarations of node-postgres leave out. */
interface ClientInternals {
  readonly connectionParameters: { query_timeout?: string | number | false };
  readonly connection: { readonly stream: { readonly bytesRead?: number } };
}

type PreparedValue = string | Buffer | null;

// Missing in the type declarations of node-postgres.
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): PreparedValue | undefined } })
  .utils;

const maxParameters = 65_535;

const readOnlyTransaction = '25006';
const beginsTransaction = /^\s*(?:begin|start transaction)\b/i;
const commits = /^\s*(?:commit|end|prepare transaction)\b/i;

/**
 * One connection with the known state of its transaction. It lives as long as the connection, across checkouts.
 */
export class DatabaseSession {
  readonly #client: pg.ClientBase;
  /** Milliseconds. `undefined` on PGlite, which computes in this process. */
  readonly #timeLimit: number | undefined;
  #ready = true;
  /** Why the connection is broken. */
  #failure: Error | undefined;
  /** Part of every statement name. A new value makes the connection prepare all statements again. */
  #generation = 0;
  #loans = 0;
  /** COMMIT was sent, and its result has not arrived. */
  #committing = false;
  #settled: PromiseWithResolvers<void> | undefined;
  readonly #onFailure: (error: unknown) => void;

  constructor(client: pg.ClientBase, onFailure: (error: unknown) => void = () => undefined) {
    this.#client = client;
    this.#onFailure = onFailure;
    const { connectionParameters } = client as unknown as ClientInternals;
    this.#timeLimit = Number(connectionParameters.query_timeout) || undefined;
    // The driver's own timers take an answer that has arrived for a time-out. Those of this class replace them.
    connectionParameters.query_timeout = 0;
    // The server is ready for a query and none is queued. A failed query rejects before this event.
    client.on('drain', () => this.#settle(true));
    // Without a listener, an error between two queries would end the process.
    client.on('error', (error) => this.#break(error));
    client.on('end', () => this.#break(new Error('Connection terminated unexpectedly')));
  }

  /** The connection is closed or broken. */
  get broken(): boolean {
    return this.#failure !== undefined;
  }

  /** No query is running, no transaction is open, and the connection can be reused. */
  get clean(): boolean {
    return this.#ready && !this.broken && this.#client.getTransactionStatus() === 'I';
  }

  /** Ends a checkout. Its running query is not retried. */
  endLoan(): void {
    this.#loans++;
  }

  /** Throws the server's error, or an error known to `isDatabaseFailure`. */
  async query(config: QueryConfig): Promise<pg.QueryResult> {
    // Serialise values first: if that fails while sending, node-postgres corrupts its next message.
    const { name, ...statement } = { ...config, values: prepareValues(config.values) };
    const loan = this.#loans;
    try {
      return await this.#send(name === undefined ? statement : { ...statement, name: `${name}.${this.#generation}` });
    } catch (error) {
      if (error instanceof Error && error.message === 'Query read timeout') this.#break(error);
      if (!isStaleStatement(error)) throw error;
      this.#generation++;
      await this.#untilReady();
      if (this.#client.getTransactionStatus() !== 'I' || this.#loans !== loan) throw error;
      // The statement was rejected before execution, so it is safe to retry.
      return await this.#send(statement);
    }
  }

  /** Waits for the running query and rolls back an open transaction. Returns whether the connection can be reused. */
  async reset(): Promise<boolean> {
    await this.#untilReady();
    if (this.broken) return false;
    if (this.#client.getTransactionStatus() !== 'I') {
      try {
        await this.#send({ text: 'ROLLBACK' });
      } catch {
        return false;
      }
    }
    return this.clean;
  }

  async #send({ query_timeout, ...query }: QueryConfig): Promise<pg.QueryResult> {
    const inTransaction = this.#client.getTransactionStatus() !== 'I';
    if (this.#failure) throw this.#notSent(this.#failure, inTransaction);
    this.#ready = false;
    if (!inTransaction) this.#committing = false;
    if (commits.test(query.text)) this.#committing = true;
    const asked = performance.now();
    const span = tracing?.statement(query.text);
    let failure: string | undefined;
    try {
      return await this.#answer(this.#client.query(query as pg.QueryConfig), query_timeout);
    } catch (error) {
      failure = (error instanceof Error && errorCode(error)) || 'error';
      // The server was demoted. Another connection may reach the new primary.
      if (error instanceof Error && errorCode(error) === readOnlyTransaction) this.#break(error);
      this.#onFailure(error);
      throw ofDatabase(error, this.#effect(inTransaction || beginsTransaction.test(query.text)));
    } finally {
      span?.end(failure);
      spendDatabaseTime(asked);
    }
  }

  #answer(answer: Promise<pg.QueryResult>, ownLimit: number | undefined): Promise<pg.QueryResult> {
    const { stream } = (this.#client as unknown as ClientInternals).connection;
    if (this.#timeLimit === undefined) return answer;
    const limit = ownLimit ?? Math.min(this.#timeLimit, databaseTimeLeft() ?? this.#timeLimit);
    return withinTime(answer, limit, () => stream.bytesRead ?? 0);
  }

  /** Of a transaction, the error that broke it: Kysely throws that of the ROLLBACK after it. */
  #notSent(failure: Error, inTransaction: boolean): Error {
    return inTransaction
      ? ofDatabase(failure, this.#effect(true))
      : ofDatabase(new Error('Connection terminated', { cause: failure }), 'not sent');
  }

  #effect(inTransaction: boolean): Effect {
    return inTransaction && !this.#committing ? 'rolled back' : 'unknown';
  }

  async #untilReady(): Promise<void> {
    if (this.#ready || this.broken) return;
    this.#settled ??= Promise.withResolvers<void>();
    await this.#settled.promise;
  }

  #break(failure: Error): void {
    this.#failure ??= failure;
    this.#settle(false);
  }

  #settle(ready: boolean): void {
    this.#ready = ready;
    this.#settled?.resolve();
    this.#settled = undefined;
  }
}

function prepareValues(values: readonly unknown[] | undefined): PreparedValue[] {
  if (values === undefined) return [];
  if (values.length > maxParameters) throw new RangeError(`A statement takes at most ${maxParameters} parameters.`);
  return values.map((value) => prepareValue(value) ?? null);
}

const int8 = 20;
const date = 1082;
const int8Array = 1016;

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('A 64-bit integer of the database does not fit a number.');
  return value;
}

type Nested = string | null | Nested[];
const parseInt8s = (items: Nested[]): unknown[] =>
  items.map((item) => (item === null ? null : Array.isArray(item) ? parseInt8s(item) : parseInt8(item)));

type Parser = (text: string) => unknown;
const parseTextArray = pg.types.getTypeParser(int8Array as number, 'text') as (text: string) => Nested[];
const parsers = new Map<number, Parser>([
  [int8, parseInt8],
  [int8Array, (text) => parseInt8s(parseTextArray(text))],
  // node-postgres would return a Date at midnight in the time zone of the process.
  [date, (text) => text],
]);

/**
 * The JavaScript types of columns: `int8` is a number (a query with a value beyond 2⁵³ fails), `date` is the text
 * `YYYY-MM-DD`, other types are as in node-postgres (`timestamptz` is a `Date`, `numeric` a string, `json` is parsed).
 */
export const types = {
  getTypeParser: (id: number, format?: 'text' | 'binary'): Parser =>
    (format === 'binary' ? undefined : parsers.get(id)) ?? (pg.types.getTypeParser(id, format as 'text') as Parser),
} as pg.CustomTypesConfig;
