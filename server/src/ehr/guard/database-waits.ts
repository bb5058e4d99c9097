import type { PostgresPool } from 'kysely';

/** Milliseconds. A database that works has answered before. */
const hesitates = 1_000;

/** The pool of a connector that keeps its records in the gateway's database. */
export interface WatchedPool {
  readonly pool: PostgresPool;
  /** Whether the connector has waited for more than a second for a connection, or has held one for so long. */
  isWaiting(): boolean;
}

/** Watches the waits of one connector, so that a call that times out for them is not held against an EHR. */
export function watchWaits(pool: PostgresPool): WatchedPool {
  /** When each began, in terms of `performance.now()`. The oldest comes first. */
  const waits = new Set<{ readonly since: number }>();
  return {
    pool: {
      async connect() {
        const wait = { since: performance.now() };
        waits.add(wait);
        try {
          const client = await pool.connect();
          const release = client.release.bind(client);
          client.release = () => {
            waits.delete(wait);
            release();
          };
          return client;
        } catch (error) {
          waits.delete(wait);
          throw error;
        }
      },
      end: () => pool.end(),
      options: pool.options,
    },
    isWaiting() {
      const [oldest] = waits;
      return oldest !== undefined && performance.now() - oldest.since > hesitates;
    },
  };
}
