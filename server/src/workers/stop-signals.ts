import type { EventEmitter } from 'node:events';

/** SIGTERM comes from a service manager, SIGINT from somebody who presses Ctrl-C. */
export type StopSignal = 'SIGINT' | 'SIGTERM';

/**
 * Milliseconds. One Ctrl-C can arrive several times: from the terminal, from npm, and from the process that starts workers.
 */
const sameStop = 500;

/**
 * Calls `onSignal` for each signal that asks to stop, with how many came before it. Signals that follow each other at once are
 * one.
 */
export function onStopSignals(
  onSignal: (signal: StopSignal, before: number) => void,
  source: EventEmitter = process,
  now: () => number = () => performance.now(),
): void {
  let count = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    source.on(signal, () => {
      const isSame = now() - last < sameStop;
      last = now();
      if (!isSame) onSignal(signal, count++);
    });
  }
}

/** Ends this process at once, as the signal does if nobody handles it. */
export function endBy(signal: StopSignal): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
