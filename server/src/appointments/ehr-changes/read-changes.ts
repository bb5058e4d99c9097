import type { Logger } from 'pino';
import type { EhrConnection } from '../../ehr/connection.ts';
import { hasOutageLines } from '../../ehr/outage-log.ts';
import { describeError } from '../../log/describe-error.ts';
import type { WriteServices } from '../../writes/write-kind.ts';
import { compareWithEvents, type ReadAppointment } from './compare-with-events.ts';
import { advanceFeed, type FeedLease, leaseFeed, releaseFeed } from './feed.ts';
import { forgetChanges, type SeenAppointment, storeChanges, toView } from './store-changes.ts';

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
export async function readChanges(services: WriteServices, ehr: EhrConnection, log: Logger): Promise<boolean> {
  const { db } = services;
  const pauseSeconds = ehr.changesSeconds;
  if (!readsChanges(ehr)) return false;
  const lease = await leaseFeed(db, ehr, ehr.times.callSeconds + margin);
  if (!lease) return false;
  try {
    return await readPage(services, ehr, lease, pauseSeconds);
  } catch (error) {
    const level = hasOutageLines(error) ? 'info' : 'warn';
    log[level]({ emr: ehr.id, cause: describeError(error) }, 'changes in the EHR could not be read, will retry');
    await releaseFeed(db, lease, pauseSeconds);
    return false;
  }
}

/** Whether the changes that are made directly in the EHR are read. */
export function readsChanges(ehr: EhrConnection): boolean {
  return ehr.changesSeconds > 0 && ehr.isOpen && ehr.offers('listAppointmentChanges');
}

async function readPage(
  services: WriteServices,
  ehr: EhrConnection,
  lease: FeedLease,
  pauseSeconds: number,
): Promise<boolean> {
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
  const progress = { next, hasMore, heldBackSince, pauseSeconds };
  if (changes.length === 0 && hidden.length === 0) return (await advanceFeed(services.db, lease, progress)) && hasMore;
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
  const told = await alreadyTold({ services, ehr }, seen, lease.startedAt);
  return services.db.transaction().execute(async (tx) => {
    // Another process has read the same by now.
    if (!(await advanceFeed(tx, lease, progress))) return false;
    await forgetChanges(tx, ehr.id, [...told]);
    const changed = seen.filter(({ id }) => !told.has(id));
    await storeChanges(tx, ehr.id, changed, lease.startedAt);
    return hasMore;
  });
}

/**
 * The appointments that need no event as they were read: nearly all, because the gateway's own changes are read too. Not one
 * that was booked and cancelled since the last reading: an unfinished write may have booked it, and will tell that.
 */
async function alreadyTold(
  context: Parameters<typeof compareWithEvents>[1],
  seen: readonly SeenAppointment[],
  readAt: Date,
): Promise<ReadonlySet<string>> {
  const rows = seen.map(({ id, views, isNew }) => {
    return { appointment_id: id, views: views.map(toView), is_new: isNew, read_at: readAt, is_checked: false };
  });
  const compared = await compareWithEvents(context.services.db, context, rows);
  const isWaiting = ({ is_new, views }: ReadAppointment) => is_new && views.some(({ state }) => state === 'cancelled');
  return new Set(
    [...compared].flatMap(([row, needed]) => (needed?.length === 0 && !isWaiting(row) ? row.appointment_id : [])),
  );
}
