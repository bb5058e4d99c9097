import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { DatabaseClock } from '../db/clock.ts';

/** A machine that follows NTP is within a fraction of this. In milliseconds. */
export const tolerance = 5_000;

/** Shows how far this machine's clock is ahead of the database's. */
export function measureClock(registry: Registry, clock: DatabaseClock): void {
  new Gauge({
    name: 'crossward_clock_ahead_seconds',
    help: "How far this machine's clock is ahead of the database's, in seconds.",
    registers: [registry],
    collect() {
      this.set(clock.aheadMilliseconds() / 1000);
    },
  });
}

/** Returns a job that measures the database's time, and logs when this machine's clock becomes wrong, and right again. */
export function watchClock(clock: DatabaseClock, log: Logger): () => Promise<void> {
  let isWrong = false;
  return async () => {
    await clock.measure();
    const ahead = clock.aheadMilliseconds();
    if (Math.abs(ahead) > tolerance === isWrong) return;
    isWrong = !isWrong;
    const facts = { ahead_seconds: Math.round(ahead / 1000) };
    if (isWrong) log.warn(facts, "this machine's clock differs from the database's: check NTP on both");
    else log.info(facts, "this machine's clock agrees with the database's again");
  };
}
