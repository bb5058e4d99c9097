import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { writeEvents } from './write-events.ts';

/**
 * Writes `emr.unavailable` or `emr.recovered`, unless the last event of the EHR says so already: several gateways see the
 * same outage. An EHR that was never reported as unavailable has not recovered. Returns `false` if another process is doing
 * it: the caller tries again later instead of keeping a connection while it waits.
 */
export async function recordAvailability(
  db: Db,
  emr: string,
  state: 'available' | 'failing' | 'paused',
): Promise<boolean> {
  const isAvailable = state === 'available';
  const type = isAvailable ? 'emr.recovered' : 'emr.unavailable';
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ is_free: boolean }>`
      SELECT pg_try_advisory_xact_lock(hashtextextended(${`availability ${emr}`}, 0)) AS is_free`.execute(tx);
    if (!rows[0]?.is_free) return false;
    const last = await lastAvailability(tx, emr);
    if ((last?.type ?? 'emr.recovered') === type) return true;
    const data = isAvailable ? { status: 'available' as const } : { status: 'unavailable' as const, reason: state };
    await writeEvents(tx, [{ type, emr, careUnitId: null, subject: null, data }]);
    return true;
  });
}

/** Since when an EHR cannot be used, as its events say. `null`: they say that it can be. */
export async function unavailableSince(db: Db, emr: string): Promise<Date | null> {
  const last = await lastAvailability(db, emr);
  return last?.type === 'emr.unavailable' ? last.occurred_at : null;
}

function lastAvailability(db: Db, emr: string) {
  return db
    .selectFrom('events')
    .select(['type', 'occurred_at'])
    .where('emr', '=', emr)
    .where('subject', 'is', null)
    .where('type', 'in', ['emr.unavailable', 'emr.recovered'])
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
}
