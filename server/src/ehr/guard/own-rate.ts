import type { RateExchange } from './rate-exchange.ts';
import { rateGrowth } from './rate-growth.ts';

const { calmSeconds, forgottenSeconds, least, most, stepSeconds } = rateGrowth;

/** @returns the exchange of a process without others, as in a command. Its rate rises like a shared one. */
export function ownRate(): RateExchange {
  let rate: number | undefined;
  let growth = least;
  let slowedAt = 0;
  let calmAt = 0;
  let raisedAt = 0;
  return async ({ isWaiting, slowdown }) => {
    const now = performance.now() / 1000;
    if (slowdown) {
      rate = slowdown.rate;
      growth = least;
      slowedAt = now;
      raisedAt = now;
      calmAt = now + slowdown.pauseSeconds + Math.max(calmSeconds, slowdown.pauseSeconds);
    } else if (now - slowedAt > forgottenSeconds) {
      rate = undefined;
    } else if (rate !== undefined && isWaiting && now > calmAt && now - raisedAt >= stepSeconds) {
      rate *= 1 + growth;
      growth = Math.min(most, growth * 2);
      raisedAt = now;
    }
    return { rate, share: 1, pauseSeconds: 0 };
  };
}
