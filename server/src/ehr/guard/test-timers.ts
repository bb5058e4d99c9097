import { onTestFinished, vi } from 'vitest';

/**
 * Time-outs of exactly this many milliseconds, which the test ends itself: no test has to be faster than they are. Use a
 * number that nothing else waits for, once in a test.
 */
export function timersOf(milliseconds: number): { end(): void } {
  const startTimer = globalThis.setTimeout;
  const started: (() => void)[] = [];
  // undici's own timers take further arguments.
  type Run = (...input: unknown[]) => void;
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    run: Run,
    delay?: number,
    ...input: unknown[]
  ) => {
    const timer = startTimer(run, delay, ...input);
    if (delay === milliseconds) {
      started.push(() => {
        clearTimeout(timer);
        run(...input);
      });
    }
    return timer;
  }) as typeof setTimeout);
  onTestFinished(() => void spy.mockRestore());
  return {
    end() {
      for (const run of started.splice(0)) run();
    },
  };
}
