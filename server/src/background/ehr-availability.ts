import type { Db } from '../db/kysely.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { recordAvailability } from '../events/availability-events.ts';
import { makeDueAfterOutage } from './due-writes.ts';

/**
 * Watches whether an EHR can be used, and writes an event when that changes. Each round compares the state of this process
 * with what it last recorded, so a failure of the database is made up for by the next round. When an EHR comes back, the
 * writes that waited for it are due at once.
 */
export function watchAvailability(db: Db): (ehr: EhrConnection) => Promise<void> {
  let recorded: boolean | undefined;
  let wasPaused = false;
  return async (ehr) => {
    const { breaker, lastSuccessAt, pause } = ehr.health();
    const isAvailable = ehr.isOpen && breaker === 'closed' && !pause;
    wasPaused ||= pause !== undefined;
    // Until its first call, the EHR is neither available nor unavailable, except that it was paused.
    if (isAvailable && lastSuccessAt === null && !wasPaused) return;
    if (isAvailable === recorded) return;
    if (!(await recordAvailability(db, ehr.id, isAvailable ? 'available' : pause ? 'paused' : 'failing'))) return;
    if (isAvailable) await makeDueAfterOutage(db, ehr.id);
    recorded = isAvailable;
    wasPaused = pause !== undefined;
  };
}
