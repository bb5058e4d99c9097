import type { CareUnitDirectory, Directory } from '../directory.ts';
import { defaultDirectorySeconds } from '../settings.ts';
import { loadCareUnit } from './load.ts';
import type { DirectoryOptions } from './options.ts';
import { refreshed } from './refreshed.ts';

/**
 * Schedules, staff and services rarely change, and every call needs them, so the directory of a care unit is cached.
 */
export function createDirectory(options: DirectoryOptions): Directory {
  const lifetime = (options.settings.directory_seconds ?? defaultDirectorySeconds) * 1000;
  const { get, reload } = refreshed<CareUnitDirectory>((id) => loadCareUnit(id, options), lifetime);
  return { of: ({ id }) => get(id), reload: ({ id }) => reload(id) };
}
