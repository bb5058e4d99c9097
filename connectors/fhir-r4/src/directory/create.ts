import { defaultDirectorySeconds } from '../settings.ts';
import type { CareUnitDirectory, Directory } from './directory.ts';
import { loadCareUnit } from './load.ts';
import { createSweeps, type DirectoryOptions } from './options.ts';

/**
 * Age of a directory in which something is looked up that an older one lacks. Callers who look for what does not exist
 * cause one refresh in this time.
 */
const freshMilliseconds = 2_000;

/**
 * Schedules, staff and services rarely change, and every call needs them, so the directory of a care unit is cached.
 */
export function createDirectory(given: Omit<DirectoryOptions, 'sweeps'>): Directory {
  const options = { ...given, sweeps: createSweeps() };
  const lifetime = (options.settings.directory_seconds ?? defaultDirectorySeconds) * 1000;
  const { get, peek, atMost, reload } = refreshed<CareUnitDirectory>((id) => loadCareUnit(id, options), lifetime);
  return {
    of: ({ id }) => get(id),
    find: async ({ id }, look) => look(await get(id)) ?? look(await atMost(freshMilliseconds, id)),
    known: ({ id }) => peek(id),
    fresh: ({ id }) => atMost(freshMilliseconds, id),
    reload: ({ id }) => reload(id),
  };
}

/** The age, in lifetimes, up to which a value is used while it is refreshed. After that, callers wait. */
const oldestLifetimes = 2;

interface Kept<Value> {
  readonly value: Value;
  readonly loadedAt: number;
}

interface Refreshed<Value> {
  get(key: string): Promise<Value>;
  /** The value that is cached. */
  peek(key: string): Value | undefined;
  /** A value that is at most `age` milliseconds old. */
  atMost(age: number, key: string): Promise<Value>;
  /** Loads the value anew. A load that has begun before is not enough: it may have read what has changed since. */
  reload(key: string): Promise<Value>;
}

/**
 * Caches a value for each key. After its lifetime, the next caller starts a refresh. Until the refresh is done, all
 * callers get the previous value. Concurrent callers share one load for each key. After a failed refresh the previous
 * value stays, and the next caller starts another.
 *
 * @param lifetime in milliseconds. 0: nothing is cached
 *
 * @internal for the test
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
    peek: (key) => known.get(key)?.value,
    async atMost(age, key) {
      const kept = known.get(key);
      return kept && now() - kept.loadedAt < age ? kept.value : refresh(key);
    },
    async reload(key) {
      await loading.get(key)?.catch(() => undefined);
      return refresh(key);
    },
  };
}
