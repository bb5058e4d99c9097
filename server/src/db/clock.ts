import { sql } from 'kysely';
import { sinceBoot } from '../time/since-boot.ts';
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
  /**
   * How long the database took for the last measurement, in milliseconds, the wait for a connection included. While one is under
   * way for longer: how long by now.
   */
  answerMilliseconds(): number;
  /** Whether every answer of more than a minute was slow. A single one says little. */
  isSlow(): boolean;
}

/** The answer of a database that hesitates longer says too little about its time, and it is slow. In milliseconds. */
export const longestAnswer = 1_000;
/** In milliseconds. */
const lasting = 60_000;

/** The time since the start of the machine can be as coarse as this. In milliseconds. */
const coarse = 1_500;

/** A clock to be measured from time to time. */
export function createDatabaseClock(db: Db): DatabaseClock {
  /** The database's time when `performance.now()` was 0. The machine's clock can be set meanwhile; `performance` cannot. */
  let origin: number | undefined;
  let bootedBefore = 0;
  let askedAt: number | undefined;
  let lastAnswer = 0;
  /** When the first of the slow answers was asked for after which none was quick. */
  let slowSince: number | undefined;
  const now = () => (origin === undefined ? Date.now() : origin + performance.now() + suspended());

  /** How long the machine has been suspended since the measurement, when `performance` stood still. */
  function suspended(): number {
    const milliseconds = sinceBoot() - performance.now() - bootedBefore;
    return milliseconds > coarse ? milliseconds : 0;
  }
  return {
    now: () => new Date(now()),
    aheadMilliseconds: () => Date.now() - now(),
    answerMilliseconds: () => Math.max(lastAnswer, askedAt === undefined ? 0 : performance.now() - askedAt),
    isSlow() {
      const since = slowSince ?? askedAt;
      return since !== undefined && performance.now() - since > lasting;
    },
    async measure() {
      const [sentAt, sentSinceBoot] = [performance.now(), sinceBoot()];
      askedAt = sentAt;
      const { rows } = await sql<{ now: number }>`
        SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`
        .execute(db)
        .finally(() => {
          lastAnswer = performance.now() - sentAt;
          askedAt = undefined;
          slowSince = lastAnswer > longestAnswer ? (slowSince ?? sentAt) : undefined;
        });
      const receivedAt = performance.now();
      const receivedSinceBoot = sinceBoot();
      const [row] = rows;
      const took = Math.max(receivedAt - sentAt, receivedSinceBoot - sentSinceBoot);
      if (!row || (origin !== undefined && took > longestAnswer)) return;
      origin = row.now - (sentAt + receivedAt) / 2;
      bootedBefore = receivedSinceBoot - receivedAt;
    },
  };
}
