/** Work that comes back again and again, until it is stopped. */
export interface Loop {
  /** Waits for the round that is under way. */
  stop(): Promise<void>;
}

/**
 * Runs `round` again and again: at once where it answers that there is more to do, else after the pause. `round` tells of
 * its own failures.
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
