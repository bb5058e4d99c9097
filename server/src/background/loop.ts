/** A job that repeats until it is stopped. */
export interface Loop {
  /** Waits for the current round. */
  stop(): Promise<void>;
}

/**
 * Runs `round` repeatedly: again at once if it returns that there is more to do, otherwise after the pause. `round` must not
 * reject.
 */
export function startLoop(pauseMilliseconds: number, round: () => Promise<boolean>): Loop {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> = Promise.resolve();
  let isStopped = false;

  function schedule(milliseconds: number): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      current = round().then((hasMore) => schedule(hasMore ? 0 : pauseMilliseconds));
    }, milliseconds);
    timer.unref();
  }

  schedule(pauseMilliseconds);
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
