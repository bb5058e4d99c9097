import { sinceBoot } from '../time/since-boot.ts';

/** Milliseconds between two looks at the clock. */
const interval = 250;
/** Milliseconds. Callers rarely give up earlier, and a closed connection is noticed after any pause. */
const longest = 10_000;

export interface Pauses {
  /** When the latest pause of more than ten seconds ended, by `performance.now()`. Before any: minus infinity. */
  latestEnd(): number;
  stop(): void;
}

/**
 * Notices that this process stood still: stopped, suspended with its machine, or busy.
 */
export function watchPauses(): Pauses {
  let latestEnd = Number.NEGATIVE_INFINITY;
  let before = sinceBoot();
  const look = () => {
    const now = sinceBoot();
    if (now - before > longest) latestEnd = performance.now();
    before = now;
  };
  const timer = setInterval(look, interval).unref();
  return {
    latestEnd() {
      // Right after a pause, requests are read before timers run.
      look();
      return latestEnd;
    },
    stop: () => clearInterval(timer),
  };
}
