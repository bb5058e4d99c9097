import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { Problem } from '../problems/problem.ts';
import { partId } from './ehr-write.ts';

interface Scene {
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
}

/**
 * Gives up holds, each under an operation id of its own: what somebody has booked in the meantime stays booked, and keeps
 * no other hold standing. What has run out is released too, since an EHR whose holds end by themselves may have something
 * left to tidy up. Safe to call again with the same operation id, for other holds as well.
 *
 * @throws Problem when the EHR is down or refuses for another reason than that something is booked
 */
export async function releaseHolds({ ehr, careUnit }: Scene, operationId: string, ids: readonly string[]) {
  if (ids.length === 0 || !ehr.capabilities.changes.includes('release')) return;
  const standing = await ehr.call('findAppointments', careUnit, ids);
  for (const { id } of standing.filter(({ state }) => state !== 'booked')) {
    const changes = [{ kind: 'release', appointmentId: id } as const];
    try {
      await ehr.call('changeAppointments', { operationId: partId(operationId, id), careUnit, changes });
    } catch (error) {
      if (!(error instanceof Problem) || error.reason !== 'confirmation_not_pending') throw error;
    }
  }
}
