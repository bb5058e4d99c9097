import type { Kysely } from 'kysely';
import { type LoadedSchedules, loadSchedulesWithVersion } from './schedule-reads.ts';
import type { SandboxTables } from './tables.ts';

/**
 * Schedules in memory, by care unit. They can be old: other processes change schedules too. Whoever uses them compares
 * their version with the database's.
 */
export interface ScheduleCache {
  get(careUnitId: string): Promise<LoadedSchedules>;
  /** The next `get` reads the database. */
  forget(careUnitId: string): void;
}

export function createScheduleCache(db: Kysely<SandboxTables>, emr: string): ScheduleCache {
  const kept = new Map<string, Promise<LoadedSchedules>>();
  return {
    get(careUnitId) {
      const known = kept.get(careUnitId);
      if (known) return known;
      const loading = loadSchedulesWithVersion(db, emr, careUnitId);
      kept.set(careUnitId, loading);
      loading.catch(() => kept.delete(careUnitId));
      return loading;
    },
    forget: (careUnitId) => void kept.delete(careUnitId),
  };
}
