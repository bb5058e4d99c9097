/** Milliseconds after a request during which a process works as usual: what the request began is done by then. */
const lasting = 60_000;

/** Whether a process has something to do, so that an idle one costs little. */
export interface ProcessActivity {
  /** Tells that a request has come, or that a message waits. */
  note(): void;
  /** Whether none has come for a minute. */
  isIdle(): boolean;
  /** Calls this at the first request after an idle time. */
  onWake(listener: () => void): void;
}

export function createActivity(): ProcessActivity {
  const listeners: (() => void)[] = [];
  let last = performance.now();
  const isIdle = () => performance.now() - last > lasting;
  return {
    isIdle,
    note() {
      const wasIdle = isIdle();
      last = performance.now();
      if (wasIdle) for (const listener of listeners) listener();
    },
    onWake: (listener) => void listeners.push(listener),
  };
}
