/** A signal that aborts when the time is over or the caller's signal aborts. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  readonly hasExpired: () => boolean;
  /** Stops the clock. The caller's signal still aborts, which matters while a stream is read. */
  readonly stopClock: () => void;
  /** Stops the clock and forgets the caller's signal. */
  readonly end: () => void;
}

/** With a longer time, `setTimeout` would not wait at all. */
const longestTimer = 2 ** 31 - 1;

/** Unlike `AbortSignal.any` with `AbortSignal.timeout`, it can be stopped and leaves nothing behind. */
export function startTimeLimit(milliseconds: number, caller: AbortSignal | undefined): TimeLimit {
  const controller = new AbortController();
  let expired = false;
  const timer = setTimeout(
    () => {
      expired = true;
      controller.abort(new DOMException('The time limit expired', 'TimeoutError'));
    },
    Math.min(milliseconds, longestTimer),
  );
  const follow = () => controller.abort(caller?.reason);
  caller?.addEventListener('abort', follow, { once: true });
  if (caller?.aborted) follow();
  const stopClock = () => clearTimeout(timer);
  return {
    signal: controller.signal,
    hasExpired: () => expired,
    stopClock,
    end: () => {
      stopClock();
      caller?.removeEventListener('abort', follow);
    },
  };
}

/** Waits. Rejects with the signal's reason when it aborts. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      },
      Math.min(milliseconds, longestTimer),
    );
    signal?.addEventListener('abort', abort, { once: true });
  });
}
