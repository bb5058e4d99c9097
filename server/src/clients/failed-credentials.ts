import { hash } from 'node:crypto';
import { LruMap } from 'toad-cache';

/** Maximum number of addresses and client ids tracked. The least recent failures are evicted first. */
const remembered = 20_000;
export const forgottenAfter = 15 * 60_000;
export const longestPause = 5 * 60_000;

interface Failures {
  count: number;
  /** Milliseconds since 1970. */
  pauseUntil: number;
}

/**
 * Records incorrect credentials, for the address and for the client id that they name. Resolves to the milliseconds that the
 * sender must still wait, or 0 if it is not throttled. Failures during a pause do not extend it.
 */
export type CountFailure = (address: string, clientId: string | undefined) => Promise<number>;

export interface FailedCredentials {
  /** As `CountFailure`, for this process alone. */
  failed(address: string, clientId: string | undefined): number;
}

/**
 * Counts failures per address and per client id. After `free` failures, each further one starts a pause of 1 s, 2 s, 4 s
 * and so on, up to five minutes. The counts are kept in the memory of this process.
 */
export function createFailedCredentials(free: number): FailedCredentials {
  const failures = new LruMap<Failures>(remembered, forgottenAfter);
  return {
    failed(address, clientId) {
      const now = Date.now();
      // Hashed to limit memory: an unknown client id can be as long as a header.
      const keys = failureKeys(address, clientId).map((key) => hash('sha256', key));
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

/** What failures are counted for. */
export function failureKeys(address: string, clientId: string | undefined): string[] {
  return [`address ${address}`, ...(clientId === undefined ? [] : [`client ${clientId}`])];
}
