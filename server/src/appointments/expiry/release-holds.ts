import type { HoldRelease } from '@crossward/connector-kit';
import { isFinal } from '../../operations/errors.ts';
import type { Work } from '../../operations/kind.ts';
import { Problem } from '../../problems/problem.ts';
import { isWhole } from '../write/perform.ts';

/**
 * Gives up holds: together where the EHR does several changes at once, else each by itself, as many at a time as the EHR
 * has turns. What somebody has booked in the meantime stays booked, and keeps no other hold standing. What has run out is
 * released too, since an EHR whose holds end by themselves may have something left to tidy up. Safe to call again.
 *
 * @throws Problem when the EHR is away or refuses for another reason than that something is booked
 */
export async function releaseHolds(work: Work, ids: readonly string[]): Promise<void> {
  const { call, careUnit, ehr, ehrId } = work;
  if (ids.length === 0 || !ehr.capabilities.changes.includes('release')) return;
  const standing = await call('findAppointments', careUnit, ids);
  const changes = standing
    .filter(({ state }) => state !== 'booked')
    .map(({ id }): HoldRelease => ({ kind: 'release', appointmentId: id }));
  if (changes.length > 1 && isWhole(ehr, changes) && (await releaseTogether(work, changes))) return;
  const outcomes = await Promise.allSettled(
    changes.map((change) => release(work, ehrId(change.appointmentId), [change])),
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}

/** `false`: the EHR refuses, because of one of them or several. */
async function releaseTogether(work: Work, changes: readonly HoldRelease[]): Promise<boolean> {
  try {
    return await release(work, work.ehrId('all'), changes);
  } catch (error) {
    if (isFinal(error)) return false;
    throw error;
  }
}

/** `false`: some of it has been booked. */
async function release(
  { call, careUnit }: Work,
  operationId: string,
  changes: readonly HoldRelease[],
): Promise<boolean> {
  try {
    await call('changeAppointments', { operationId, careUnit, changes });
    return true;
  } catch (error) {
    if (error instanceof Problem && error.reason === 'confirmation_not_pending') return false;
    throw error;
  }
}
