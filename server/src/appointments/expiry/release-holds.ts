import type { HoldRelease } from '@crossward/connector-kit';
import { isFinal } from '../../operations/errors.ts';
import type { Work } from '../../operations/kind.ts';
import { Problem } from '../../problems/problem.ts';
import { isWhole } from '../write/transaction.ts';

/**
 * Gives up holds: together where the EHR does several changes at once, else each by itself, as many at a time as the EHR
 * has turns. What somebody has booked in the meantime stays booked; neither that nor a hold that the EHR refuses to give
 * up keeps another one standing. What has run out is released too, since an EHR whose holds end by themselves may have
 * something left to tidy up. Safe to call again.
 *
 * @throws Problem when the EHR is away or refuses for another reason than that something is booked
 */
export async function releaseHolds(work: Work, ids: readonly string[]): Promise<void> {
  const { call, careUnit, ehr } = work;
  if (ids.length === 0 || !ehr.capabilities.changes.includes('release')) return;
  const standing = await call('findAppointments', careUnit, ids);
  const changes = standing
    .filter(({ state }) => state !== 'booked')
    .map(({ id }): HoldRelease => ({ kind: 'release', appointmentId: id }));
  if (changes.length > 1 && isWhole(ehr, changes) && (await areReleasedTogether(work, changes))) return;
  await releaseEach(work, changes);
}

/** `false`: the EHR has refused, for one of them perhaps. */
async function areReleasedTogether(work: Work, changes: readonly HoldRelease[]): Promise<boolean> {
  try {
    await release(work, work.ehrId('all'), changes);
    return true;
  } catch (error) {
    if (isFinal(error)) return false;
    throw error;
  }
}

/** In a slow EHR not all of them get a turn in time: those come again, as long as others get on. */
async function releaseEach(work: Work, changes: readonly HoldRelease[]): Promise<void> {
  const refusals: unknown[] = [];
  for (let left = changes; left.length > 0; ) {
    const open: { readonly change: HoldRelease; readonly error: unknown }[] = [];
    await Promise.all(
      left.map((change) =>
        releaseOne(work, change).catch((error) => {
          if (isFinal(error)) refusals.push(error);
          else open.push({ change, error });
        }),
      ),
    );
    if (open.length === left.length) throw open[0]?.error;
    left = open.map(({ change }) => change);
  }
  if (refusals.length > 0) throw refusals[0];
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
