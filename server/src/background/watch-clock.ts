import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { DatabaseClock } from '../db/clock.ts';

/** A machine that follows NTP is within a fraction of this. In milliseconds. */
export const tolerance = 5_000;

/** Shows how far this machine's clock is ahead of the database's, and how long the database takes to tell its time. */
export function measureClock(registry: Registry, clock: DatabaseClock): void {
  new Gauge({
    name: 'crossward_clock_ahead_seconds',
    help: "How far this machine's clock is ahead of the database's, in seconds.",
    registers: [registry],
    collect() {
      this.set(clock.aheadMilliseconds() / 1000);
    },
  });
  new Gauge({
    name: 'crossward_database_answer_seconds',
    help: 'How long the database took to answer the last of the looks that the gateway takes every ten seconds, the wait for a connection included. While one waits for longer: how long by now.',
    registers: [registry],
    aggregator: 'max',
    collect() {
      this.set(clock.answerMilliseconds() / 1000);
    },
  });
}

/**
 * Returns a job that measures the database's time. It logs when this machine's clock becomes wrong, and right again, and when the
 * database has been slow for a minute, and quick again.
 */
export function watchClock(clock: DatabaseClock, log: Logger): () => Promise<void> {
  let isWrong = false;
  let isSlow = false;

  function tellClock(): void {
    const ahead = clock.aheadMilliseconds();
    if (Math.abs(ahead) > tolerance === isWrong) return;
    isWrong = !isWrong;
    const facts = { ahead_seconds: Math.round(ahead / 1000) };
    if (isWrong) log.warn(facts, "this machine's clock differs from the database's: check NTP on both");
    else log.info(facts, "this machine's clock agrees with the database's again");
  }

  function tellAnswer(): void {
    if (clock.isSlow() === isSlow) return;
    isSlow = !isSlow;
    const facts = { answer_seconds: Math.round(clock.answerMilliseconds() / 100) / 10 };
    if (isSlow) log.warn(facts, 'the database answers slowly');
    else log.info(facts, 'the database answers in time again');
  }

  return async () => {
    await clock.measure().finally(tellAnswer);
    tellClock();
  };
}
