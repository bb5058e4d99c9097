import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Milliseconds between two questions to the server in use. */
const interval = 1_000;
/** Milliseconds. A server that takes longer counts as unavailable. */
const timeoutMs = 2_000;
/** Milliseconds between two rounds over all servers. */
const shortestPause = 25;
const longestPause = 500;

/**
 * Knows which of several servers accepts writes. One connection asks the server in use every second. If it does not respond
 * or accepts no more writes, the servers are asked in turn until one accepts writes.
 *
 * A server that does not respond stays in use until another one accepts writes, because it may only be slow.
 */
export class PrimaryServer {
  readonly #urls: readonly [string, ...string[]];
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #closing = new AbortController();
  #url: string;
  #client: pg.Client | undefined;

  constructor(urls: readonly [string, ...string[]]) {
    this.#urls = urls;
    [this.#url] = urls;
    void this.#watch();
  }

  /** The server in use. */
  get url(): string {
    return this.#url;
  }

  /** Calls back whenever another server has come into use. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    this.#events.on('change', listener);
    return () => this.#events.off('change', listener);
  }

  /** Waits until another server comes into use, at most this many milliseconds, a whole number. */
  async changed(milliseconds: number): Promise<void> {
    const signal = AbortSignal.any([AbortSignal.timeout(milliseconds), this.#closing.signal]);
    await once(this.#events, 'change', { signal }).catch(() => undefined);
  }

  close(): void {
    this.#closing.abort();
    this.#client?.end().catch(() => undefined);
  }

  async #watch(): Promise<void> {
    let pause = shortestPause;
    while (!this.#closing.signal.aborted) {
      for (const url of [this.#url, ...this.#urls.filter((other) => other !== this.#url)]) {
        if (await this.#stayWith(url)) {
          // It accepted writes for a while. Ask it first, because it may only have restarted.
          pause = shortestPause;
          break;
        }
      }
      await this.#sleep(pause);
      pause = Math.min(pause * 2, longestPause);
    }
  }

  /** Asks a server for as long as it accepts writes. Returns whether it did. */
  async #stayWith(url: string): Promise<boolean> {
    let accepted = false;
    const client = new pg.Client({
      connectionString: url,
      application_name: 'crossward watch',
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    });
    this.#client = client;
    const ended = once(client, 'end', { signal: this.#closing.signal }).catch(() => undefined);
    // Without a listener, an error between two queries would end the process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      while (!this.#closing.signal.aborted && (await acceptsWrites(client))) {
        accepted = true;
        if (url !== this.#url) {
          this.#url = url;
          this.#events.emit('change');
        }
        await Promise.race([this.#sleep(interval), ended]);
      }
    } catch {
      // Rejected, broken or too slow.
    }
    void client.end().catch(() => undefined);
    return accepted;
  }

  async #sleep(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { ref: false, signal: this.#closing.signal }).catch(() => undefined);
  }
}

/** A standby and a server with `default_transaction_read_only` accept no writes. */
export async function acceptsWrites(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
  return rows[0]?.transaction_read_only === 'off';
}
