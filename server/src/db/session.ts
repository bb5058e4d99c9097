import pg from 'pg';
import { isStaleStatement, ofDatabase } from './errors.ts';

export interface QueryConfig {
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
  /** Name of the prepared statement. */
  readonly name?: string | undefined;
  /** `array`: each row as an array of its columns. */
  readonly rowMode?: 'array' | undefined;
  /** Milliseconds, instead of the pool's own. */
  readonly query_timeout?: number | undefined;
}

type PreparedValue = string | Buffer | null;

// Not in node-postgres's type declarations.
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): PreparedValue | undefined } })
  .utils;

const maxParameters = 65_535;

/**
 * One connection, and what is known for certain about its transaction, for as long as it lives. Those who check it out
 * one after another share it.
 */
export class Session {
  readonly #client: pg.ClientBase;
  #ready = true;
  #broken = false;
  /** Part of every name, so that a new one prepares all statements anew. */
  #generation = 0;
  #loans = 0;
  #settled: PromiseWithResolvers<void> | undefined;

  constructor(client: pg.ClientBase) {
    this.#client = client;
    // The server said that it is ready for a query, and none is waiting. A query is rejected before that.
    client.on('drain', () => this.#settle(true));
    // Without a listener an error between two queries ends the process.
    client.on('error', () => this.#break());
    client.on('end', () => this.#break());
  }

  /** The connection is gone. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Nothing runs, no transaction is open, and the connection may serve someone else. */
  get clean(): boolean {
    return this.#ready && !this.#broken && this.#client.getTransactionStatus() === 'I';
  }

  /** A loan ends: what it still has running is not tried again. */
  endLoan(): void {
    this.#loans++;
  }

  /** Throws what the server answered, or an error that `isConnectionFailure` knows. */
  async query(config: QueryConfig): Promise<pg.QueryResult> {
    // Values are made ready before anything is sent: node-postgres corrupts its next message when one cannot be.
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
      // The statement was refused before it ran.
      return await this.#send(statement);
    }
  }

  /** Waits for what still runs and rolls back what is open. Answers whether the connection may serve someone else. */
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

  async #send(query: object): Promise<pg.QueryResult> {
    this.#ready = false;
    try {
      return await this.#client.query(query as pg.QueryConfig);
    } catch (error) {
      throw ofDatabase(error);
    }
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
