import type { Fault } from './server.ts';

/** A limit on the rate of requests: a bucket that is filled all the time, and holds the requests of one second. */
export interface Quota {
  /** For `misbehave` of the server. */
  limit(): Fault | undefined;
  /** How many requests it has rejected. */
  readonly rejected: number;
}

/** @param perSecond requests */
export function quota(perSecond: number): Quota {
  let left = perSecond;
  let filledAt = performance.now();
  let rejected = 0;
  return {
    limit() {
      const now = performance.now();
      left = Math.min(perSecond, left + ((now - filledAt) / 1000) * perSecond);
      filledAt = now;
      if (left < 1) {
        rejected++;
        return { status: 429, headers: { 'retry-after': '1' } };
      }
      left--;
      return undefined;
    },
    get rejected() {
      return rejected;
    },
  };
}
