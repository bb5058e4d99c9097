import { sinceBoot } from '../../time/since-boot.ts';

/** Milliseconds between two looks at the clock. */
const interval = 1_000;
/** Milliseconds. Callers rarely give up earlier, and a closed connection is noticed after any pause. */
const longest = 10_000;

/** Milliseconds. What arrived during a pause is read within this time after it. */
const reading = 2_000;

export interface Stalls {
  /** Whether what was read at this time, by `performance.now()`, may have arrived during a pause of more than ten seconds. */
  hadPauseBefore(readAt: number): boolean;
  stop(): void;
}

/**
 * Notices that this process stood still: stopped, suspended with its machine, or busy.
 */
export function watchPauses(): Stalls {
  let latestEnd = Number.NEGATIVE_INFINITY;
  let before = sinceBoot();
  const look = () => {
    const now = sinceBoot();
    if (now - before > longest) latestEnd = performance.now();
    before = now;
  };
  const timer = setInterval(look, interval).unref();
  return {
    hadPauseBefore(readAt) {
      // Right after a pause, requests are read before timers run.
      look();
      return readAt < latestEnd + reading;
    },
    stop: () => clearInterval(timer),
  };
}
