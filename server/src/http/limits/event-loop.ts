/** Milliseconds between two looks at the event loop. Each wakes an idle process. */
const interval = 1_000;

export interface EventLoop {
  /** By how many milliseconds the last look came late: the work of this process waits for so long. */
  delayMilliseconds(): number;
  stop(): void;
}

/** Measures how far this process is behind with its work. */
export function watchEventLoop(): EventLoop {
  let delay = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    delay = Math.max(0, now - last - interval);
    last = now;
  }, interval).unref();
  return { delayMilliseconds: () => delay, stop: () => clearInterval(timer) };
}
