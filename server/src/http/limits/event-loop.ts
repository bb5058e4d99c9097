import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds between two looks at the event loop. Each wakes an idle process. */
const resolution = 100;
/** Milliseconds over which the delay is measured. */
const sample = 1_000;

export interface EventLoop {
  /** By how many milliseconds the work of this process was late in the last second, on average. */
  delayMilliseconds(): number;
  stop(): void;
}

/** Measures how far this process is behind with its work. */
export function watchEventLoop(): EventLoop {
  const histogram = monitorEventLoopDelay({ resolution });
  histogram.enable();
  let delay = 0;
  const timer = setInterval(() => {
    // Without a look, the mean is not a number.
    delay = Math.max(0, histogram.mean / 1e6 - resolution) || 0;
    histogram.reset();
  }, sample).unref();
  return {
    delayMilliseconds: () => delay,
    stop() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}
