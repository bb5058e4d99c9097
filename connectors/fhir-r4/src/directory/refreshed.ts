/** How many lifetimes a value may be old while it is refreshed. After that, callers wait. */
const oldestLifetimes = 10;

interface Kept<Value> {
  readonly value: Value;
  readonly loadedAt: number;
}

interface Refreshed<Value> {
  get(key: string): Promise<Value>;
  /** Loads the value anew. A load that has begun before is not enough: it may have read what has changed since. */
  reload(key: string): Promise<Value>;
}

/**
 * Keeps a value for each key. After its lifetime, the next caller starts a refresh and still gets the former value, as
 * does everybody else until the refresh is done. One load at a time for each key, whoever waits for it. A failed refresh
 * keeps the former value; the next caller starts another.
 *
 * @param lifetime in milliseconds. 0: nothing is kept
 */
export function refreshed<Value>(
  load: (key: string) => Promise<Value>,
  lifetime: number,
  now: () => number = Date.now,
): Refreshed<Value> {
  const known = new Map<string, Kept<Value>>();
  const loading = new Map<string, Promise<Value>>();

  function refresh(key: string): Promise<Value> {
    const current = loading.get(key);
    if (current) return current;
    const loadedAt = now();
    const next = load(key)
      .then((value) => {
        known.set(key, { value, loadedAt });
        return value;
      })
      .finally(() => loading.delete(key));
    loading.set(key, next);
    return next;
  }

  return {
    async get(key) {
      const kept = known.get(key);
      const age = kept ? now() - kept.loadedAt : Number.POSITIVE_INFINITY;
      if (!kept || age >= lifetime * oldestLifetimes) return refresh(key);
      if (age >= lifetime) refresh(key).catch(() => undefined);
      return kept.value;
    },
    async reload(key) {
      await loading.get(key)?.catch(() => undefined);
      return refresh(key);
    },
  };
}
