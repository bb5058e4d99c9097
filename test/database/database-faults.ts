import type { Socket } from 'node:net';
import pg from 'pg';
import { vi } from 'vitest';

/**
 * - `down`: every connection fails with its next statement, before the server gets it
 * - `cut before commit`, `cut after commit`: a connection fails at COMMIT, before or after the server has executed it
 */
export type DatabaseFault = 'down' | 'cut before commit' | 'cut after commit';

/** Lets the connections to PostgreSQL of this process fail. */
export function databaseFaults() {
  let fault: DatabaseFault | undefined;
  const { query } = pg.Client.prototype;
  const cut = (client: pg.Client) =>
    (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
  const patched = async function (this: pg.Client, ...input: unknown[]): Promise<unknown> {
    const [first] = input;
    const text = typeof first === 'string' ? first : ((first as { text?: string }).text ?? '');
    const isCommit = /^\s*commit/i.test(text);
    const run = () => Reflect.apply(query, this, input) as Promise<unknown>;
    if (fault === 'down' || (fault === 'cut before commit' && isCommit)) cut(this);
    if (fault !== 'cut after commit' || !isCommit) return run();
    await run();
    cut(this);
    throw new Error('Connection terminated unexpectedly');
  };
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(patched as typeof query);
  return {
    async during<Result>(next: DatabaseFault, run: () => Promise<Result>): Promise<Result> {
      fault = next;
      try {
        return await run();
      } finally {
        fault = undefined;
      }
    },
    restore: () => spy.mockRestore(),
  };
}
