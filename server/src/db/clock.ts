import { sql } from 'kysely';
import type { Db } from './kysely.ts';

/**
 * The database's time, by which codes, leases and deliveries expire. All gateways share it, while the clocks of their
 * machines can be wrong.
 */
export interface DatabaseClock {
  /** Between two measurements, the time that has passed here is added. Before the first one: the machine's time. */
  now(): Date;
  /** How many milliseconds this machine's clock is ahead of the database's. */
  aheadMilliseconds(): number;
  /** Asks the database for its time. Throws errors of the database. */
  measure(): Promise<void>;
}

/** The answer of a database that hesitates longer says too little about its time. In milliseconds. */
const longestAnswer = 1_000;

/** A clock to be measured from time to time. */
export function createDatabaseClock(db: Db): DatabaseClock {
  /** The database's time when `performance.now()` was 0. The machine's clock can be set meanwhile; `performance` cannot. */
  let origin: number | undefined;
  const now = () => (origin === undefined ? Date.now() : origin + performance.now());
  return {
    now: () => new Date(now()),
    aheadMilliseconds: () => Date.now() - now(),
    async measure() {
      const sentAt = performance.now();
      const { rows } = await sql<{ now: number }>`
        SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`.execute(db);
      const receivedAt = performance.now();
      const [row] = rows;
      if (!row || (origin !== undefined && receivedAt - sentAt > longestAnswer)) return;
      origin = row.now - (sentAt + receivedAt) / 2;
    },
  };
}
