/** A job that repeats until it is stopped. */
export interface Loop {
  /** Waits for the current round. */
  stop(): Promise<void>;
}

/** Milliseconds, or what they are now. */
export type LoopPause = number | (() => number);

/**
 * Runs `round` repeatedly: again at once if it returns that there is more to do, otherwise after the pause. `round` must not
 * reject.
 */
export function startLoop(pause: LoopPause, round: () => Promise<boolean>): Loop {
  const rest = () => (typeof pause === 'number' ? pause : pause());
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> = Promise.resolve();
  let isStopped = false;

  function schedule(milliseconds: number): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      current = round().then((hasMore) => schedule(hasMore ? 0 : rest()));
    }, milliseconds);
    timer.unref();
  }

  schedule(rest());
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
