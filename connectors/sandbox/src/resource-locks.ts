import { sql, type Transaction } from 'kysely';
import type { SandboxTables } from './tables.ts';

/** Names of advisory locks, in the order in which every write takes them: those in `shared` first. */
export interface Locks {
  readonly shared: readonly string[];
  readonly exclusive: readonly string[];
}

interface ResourceTime {
  readonly resourceId: string;
  readonly start: Date;
  readonly end: Date;
}

const hourMilliseconds = 60 * 60 * 1000;
/** PostgreSQL has a limited number of locks, so a write with more hours locks the whole resource. */
const mostHours = 48;

/**
 * The locks of a write in which appointments take or leave these times. Without them the exclusion constraint would be
 * correct, but concurrent writes would deadlock on it, and PostgreSQL detects a deadlock only after a second. Bookings of
 * different hours run concurrently. Changes to the schedules of the resources wait.
 */
export function locksOf(emr: string, times: readonly ResourceTime[]): Locks {
  const resources = sortedNames(times.map(({ resourceId }) => resourceLock(emr, resourceId)));
  const hours = sortedNames(times.flatMap((time) => hourLocks(emr, time)));
  return hours.length > mostHours ? { shared: [], exclusive: resources } : { shared: resources, exclusive: hours };
}

function hourLocks(emr: string, { resourceId, start, end }: ResourceTime): string[] {
  const first = Math.floor(start.getTime() / hourMilliseconds);
  const count = Math.ceil(end.getTime() / hourMilliseconds) - first;
  return Array.from({ length: count }, (_, index) => `${resourceLock(emr, resourceId)} ${first + index}`);
}

function resourceLock(emr: string, resourceId: string): string {
  return `sandbox ${emr} ${resourceId}`;
}

/** Each name once, in the order in which locks are taken. */
export function sortedNames(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

/** Keeps out all other writes to the appointments and schedules of the resource. */
export async function lockResource(tx: Transaction<SandboxTables>, emr: string, resourceId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${resourceLock(emr, resourceId)}, 0))`.execute(tx);
}
