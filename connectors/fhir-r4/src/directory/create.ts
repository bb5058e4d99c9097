import { defaultDirectorySeconds } from '../settings.ts';
import type { CareUnitDirectory, Directory } from './directory.ts';
import { loadCareUnit } from './load.ts';
import { createSweeps, type DirectoryOptions } from './options.ts';
import { refreshed } from './refreshed.ts';

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
