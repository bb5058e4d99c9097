/** Longer than the time between the gateway's look-up and the write that follows it. */
const lifetimeMilliseconds = 5_000;
const mostKept = 1_000;

/** Values that were read recently, for the write that follows. Each can be taken once. */
export interface Recent<Value> {
  put(key: string, value: Value): void;
  /** `undefined`: not read, too old, or already taken. */
  take(key: string): Value | undefined;
}

export function recent<Value>(now: () => number = Date.now): Recent<Value> {
  const kept = new Map<string, { readonly value: Value; readonly until: number }>();

  function dropOld(): void {
    for (const [key, { until }] of kept) {
      if (until > now() && kept.size < mostKept) return;
      kept.delete(key);
    }
  }

  return {
    put(key, value) {
      // Keeps the oldest first.
      kept.delete(key);
      dropOld();
      kept.set(key, { value, until: now() + lifetimeMilliseconds });
    },
    take(key) {
      const found = kept.get(key);
      kept.delete(key);
      return found && found.until > now() ? found.value : undefined;
    },
  };
}
