import type { Logger } from 'pino';
import type { Db } from '../../db/kysely.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import { describeError } from '../../log/describe-error.ts';
import { advanceFeed, type FeedLease, leaseFeed, releaseFeed } from './feed.ts';
import { storeChanges } from './store-changes.ts';

const atOnce = 200;
/** Seconds. Margin of a lease over the longest call. */
const margin = 10;
/** An appointment that was booked this long before the last reading counts as new: the clocks may differ. */
const clockDifferenceMilliseconds = 5 * 60_000;

/**
 * Reads what has changed in an EHR since the last reading, if that is due. The changes are stored together with the
 * position, so that a process that is killed loses none. The first reading only notes where to start. Returns whether there
 * is more to read.
 */
export async function readChanges(db: Db, ehr: EhrConnection, log: Logger): Promise<boolean> {
  const pauseSeconds = ehr.changesSeconds;
  if (!readsChanges(ehr)) return false;
  const lease = await leaseFeed(db, ehr, ehr.patience.callSeconds + margin);
  if (!lease) return false;
  try {
    return await readPage(db, ehr, lease, pauseSeconds);
  } catch (error) {
    log.warn({ emr: ehr.id, cause: describeError(error) }, 'changes in the EHR could not be read, will retry');
    await releaseFeed(db, lease, pauseSeconds);
    return false;
  }
}

/** Whether the changes that are made directly in the EHR are read. */
export function readsChanges(ehr: EhrConnection): boolean {
  return ehr.changesSeconds > 0 && ehr.isOpen && ehr.offers('listAppointmentChanges');
}

async function readPage(db: Db, ehr: EhrConnection, lease: FeedLease, pauseSeconds: number): Promise<boolean> {
  const {
    changes,
    hidden = [],
    next,
    hasMore,
    heldBackSince,
  } = await ehr.call('listAppointmentChanges', {
    careUnits: [...ehr.careUnits.values()],
    ...(lease.cursor === null ? {} : { after: lease.cursor }),
    limit: atOnce,
  });
  const isNewSince = lease.caughtUpAt.getTime() - clockDifferenceMilliseconds;
  const seen = [
    ...hidden.map((id) => ({ id, views: [], isNew: false })),
    ...[...Map.groupBy(changes, ({ appointment: { id } }) => id)].map(([id, group]) => ({
      id,
      views: [...new Map(group.map(({ appointment }) => [appointment.careUnitId, appointment])).values()].filter(
        ({ careUnitId }) => ehr.careUnits.has(careUnitId),
      ),
      isNew: group.some(({ createdAt }) => createdAt !== undefined && createdAt.getTime() >= isNewSince),
    })),
  ];
  return db.transaction().execute(async (tx) => {
    // Another process has read the same by now.
    if (!(await advanceFeed(tx, lease, { next, hasMore, heldBackSince, pauseSeconds }))) return false;
    await storeChanges(tx, ehr.id, seen, lease.startedAt);
    return hasMore;
  });
}
