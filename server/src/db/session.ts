import pg from 'pg';
import { type Effect, errorCode, isStaleStatement, ofDatabase } from './errors.ts';

export interface QueryConfig {
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
  /** Name of the prepared statement. */
  readonly name?: string | undefined;
  /** `array`: each row as an array of its columns. */
  readonly rowMode?: 'array' | undefined;
  /** Milliseconds. Overrides the time-out of the pool. */
  readonly query_timeout?: number | undefined;
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
export class Session {
  readonly #client: pg.ClientBase;
  #ready = true;
  #broken = false;
  /** Part of every statement name. A new value makes the connection prepare all statements again. */
  #generation = 0;
  #loans = 0;
  /** COMMIT was sent, and its result has not arrived. */
  #committing = false;
  #settled: PromiseWithResolvers<void> | undefined;

  constructor(client: pg.ClientBase) {
    this.#client = client;
    // The server is ready for a query and none is queued. A failed query rejects before this event.
    client.on('drain', () => this.#settle(true));
    // Without a listener, an error between two queries would end the process.
    client.on('error', () => this.#break());
    client.on('end', () => this.#break());
  }

  /** The connection is closed or broken. */
  get broken(): boolean {
    return this.#broken;
  }

  /** No query is running, no transaction is open, and the connection can be reused. */
  get clean(): boolean {
    return this.#ready && !this.#broken && this.#client.getTransactionStatus() === 'I';
  }

  /** Ends a checkout. Its running query is not retried. */
  endLoan(): void {
    this.#loans++;
  }

  /** Throws the server's error, or an error known to `isConnectionFailure`. */
  async query(config: QueryConfig): Promise<pg.QueryResult> {
    // Serialise values first: if that fails while sending, node-postgres corrupts its next message.
    const { name, ...statement } = { ...config, values: prepareValues(config.values) };
    const loan = this.#loans;
    try {
      return await this.#send(name === undefined ? statement : { ...statement, name: `${name}.${this.#generation}` });
    } catch (error) {
      if (error instanceof Error && error.message === 'Query read timeout') this.#break();
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
    if (this.#broken) return false;
    if (this.#client.getTransactionStatus() !== 'I') {
      try {
        await this.#send({ text: 'ROLLBACK' });
      } catch {
        return false;
      }
    }
    return this.clean;
  }

  async #send(query: QueryConfig): Promise<pg.QueryResult> {
    this.#ready = false;
    const inTransaction = this.#client.getTransactionStatus() !== 'I';
    if (!inTransaction) this.#committing = false;
    if (commits.test(query.text)) this.#committing = true;
    try {
      return await this.#client.query(query as pg.QueryConfig);
    } catch (error) {
      const isReadOnly = errorCode(error) === readOnlyTransaction;
      // The server was demoted. Another connection may reach the new primary.
      if (isReadOnly) this.#break();
      throw ofDatabase(error, this.#effect(inTransaction || beginsTransaction.test(query.text), isReadOnly));
    }
  }

  #effect(inTransaction: boolean, isReadOnly: boolean): Effect {
    if (inTransaction) return this.#committing ? 'unknown' : 'rolled back';
    return isReadOnly ? 'not sent' : 'unknown';
  }

  async #untilReady(): Promise<void> {
    if (this.#ready || this.#broken) return;
    this.#settled ??= Promise.withResolvers<void>();
    await this.#settled.promise;
  }

  #break(): void {
    this.#broken = true;
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
