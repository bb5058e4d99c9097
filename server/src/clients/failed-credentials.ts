import { hash } from 'node:crypto';
import { LruMap } from 'toad-cache';

/** Addresses and client ids that are remembered at a time; those that failed longest ago are forgotten first. */
const remembered = 20_000;
const forgottenAfter = 15 * 60_000;
const longestPause = 5 * 60_000;

interface Failures {
  count: number;
  /** Milliseconds since 1970. */
  pauseUntil: number;
}

export interface FailedCredentials {
  /**
   * Of wrong credentials that have just come: milliseconds that their sender has still to wait, or 0 where they are one
   * more failure to be told as such. Those that come during a pause do not make it longer.
   */
  failed(address: string, clientId: string): number;
}

/**
 * Failures of an address, whichever client id it sends, and of a client id, whichever address it comes from. After `free`
 * of them each further one begins a pause: 1 s, 2 s, 4 s, up to five minutes. Kept in this process alone.
 */
export function createFailedCredentials(free: number): FailedCredentials {
  const failures = new LruMap<Failures>(remembered, forgottenAfter);
  return {
    failed(address, clientId) {
      const now = Date.now();
      // Hashed to be short: a client id that nobody has can be as long as a header.
      const keys = [`address ${address}`, `client ${hash('sha256', clientId)}`];
      const known = keys.map((key) => failures.get(key) ?? { count: 0, pauseUntil: 0 });
      const wait = Math.max(...known.map(({ pauseUntil }) => pauseUntil - now));
      if (wait > 0) return wait;
      for (const [index, { count }] of known.entries()) {
        const beyond = count + 1 - free;
        const pause = beyond < 0 ? 0 : Math.min(1000 * 2 ** beyond, longestPause);
        failures.set(keys[index], { count: count + 1, pauseUntil: now + pause });
      }
      return 0;
    },
  };
}
