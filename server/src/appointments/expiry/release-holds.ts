import type { HoldRelease } from '@crossward/connector-kit';
import { Problem } from '../../problems/problem.ts';
import { isFinal } from '../../problems/write-errors.ts';
import type { Work } from '../../writes/write-kind.ts';
import { isAtomic } from '../write/changes.ts';

/**
 * Releases holds: in one transaction if the EHR supports it, otherwise each on its own and concurrently. Appointments that
 * were booked in the meantime stay booked. One rejected release does not stop the others. Holds that have expired in the
 * EHR are released too, since the EHR may have to clean up after them. Safe to call again.
 *
 * @throws Problem when the EHR is unavailable, or rejects a release although the appointment is not booked
 */
export async function releaseHolds(work: Work, ids: readonly string[]): Promise<void> {
  const { call, careUnit, ehr } = work;
  if (ids.length === 0 || !ehr.capabilities.changes.includes('release')) return;
  const found = await call('findAppointments', careUnit, ids);
  const changes = found
    .filter(({ state }) => state !== 'booked')
    .map(({ id }): HoldRelease => ({ kind: 'release', appointmentId: id }));
  if (changes.length > 1 && isAtomic(ehr, changes) && (await areReleasedTogether(work, changes))) return;
  await releaseEach(work, changes);
}

/** Returns `false` if the EHR rejected the transaction, perhaps because of one release. */
async function areReleasedTogether(work: Work, changes: readonly HoldRelease[]): Promise<boolean> {
  try {
    await release(work, work.ehrId('all'), changes);
    return true;
  } catch (error) {
    if (isFinal(error)) return false;
    throw error;
  }
}

/** In a slow EHR some calls time out in the queue. They are repeated as long as others succeed. */
async function releaseEach(work: Work, changes: readonly HoldRelease[]): Promise<void> {
  const rejections: unknown[] = [];
  for (let left = changes; left.length > 0; ) {
    const open: { readonly change: HoldRelease; readonly error: unknown }[] = [];
    await Promise.all(
      left.map((change) =>
        releaseOne(work, change).catch((error) => {
          if (isFinal(error)) rejections.push(error);
          else open.push({ change, error });
        }),
      ),
    );
    if (open.length === left.length) throw open[0]?.error;
    left = open.map(({ change }) => change);
  }
  if (rejections.length > 0) throw rejections[0];
}

async function releaseOne(work: Work, change: HoldRelease): Promise<void> {
  try {
    await release(work, work.ehrId(change.appointmentId), [change]);
  } catch (error) {
    if (!(error instanceof Problem) || error.reason !== 'confirmation_not_pending') throw error;
  }
}

async function release({ call, careUnit }: Work, operationId: string, changes: readonly HoldRelease[]): Promise<void> {
  await call('changeAppointments', { operationId, careUnit, changes });
}
