import type pg from 'pg';
import type { Db as JobDatabase } from 'pg-boss';
import type { Database } from '../db/database.ts';
import { PglitePool } from '../db/pglite-pool.ts';
import type { DatabasePool } from '../db/pool.ts';

type Listen = NonNullable<JobDatabase['listen']>;

const reconnectDelay = 2_000;

/**
 * Adapts the gateway's pool for background jobs to pg-boss. pg-boss's own adapter for PGlite would send its ROLLBACK into
 * other transactions. Without `connectToListen`, pg-boss polls.
 */
export function jobDatabase({ background: pool, connectToListen }: Database): JobDatabase {
  const executeSql: JobDatabase['executeSql'] = (text, values) => execute(pool, text, values);
  if (pool instanceof PglitePool) return { executeSql, listen: (...args) => listenOnPglite(pool, ...args) };
  if (!connectToListen) return { executeSql };
  return { executeSql, listen: (...args) => listenOnPostgres(connectToListen, ...args) };
}

async function execute(pool: DatabasePool, text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
  const client = await pool.connect();
  try {
    const result: unknown = await client.query(text, values);
    // A text with several statements returns several results.
    return { rows: [result].flat().flatMap((one) => (one as { rows: unknown[] }).rows) };
  } finally {
    client.release();
  }
}

async function listenOnPglite(pool: PglitePool, ...[channel, hear, connected]: Parameters<Listen>) {
  const close = pool.onNotification((notification) => {
    if (notification.channel === channel && notification.payload !== undefined) hear(notification.payload);
  });
  await execute(pool, `LISTEN "${channel}"`);
  connected();
  return { close: async () => close() };
}

/** Reconnects until it is closed. Polling finds what it misses in between. */
async function listenOnPostgres(open: () => Promise<pg.Client>, ...[channel, hear, connected]: Parameters<Listen>) {
  let closed = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const next = await open();
    client = next;
    next.on('notification', ({ payload }) => payload !== undefined && hear(payload));
    try {
      await next.query(`LISTEN "${channel}"`);
    } catch (error) {
      await next.end().catch(() => undefined);
      throw error;
    }
    next.on('end', again);
    connected();
  }

  function again(): void {
    if (closed) return;
    timer = setTimeout(() => void connect().catch(again), reconnectDelay);
  }

  await connect();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
