import { openPlan } from '../writes/stored-write.ts';
import type { Work } from '../writes/write-kind.ts';

/**
 * Whether another open write of this kind in the care unit has a plan that matches, or one that cannot be decrypted. The
 * work is contested if that one ends first: of two that wait for each other, the one with the lower id.
 */
export async function isPlannedElsewhere(
  work: Work,
  kindName: string,
  matches: (plan: unknown) => boolean,
): Promise<boolean> {
  const { services, ehr, careUnit, writeId } = work;
  const others = await services.db
    .selectFrom('operations')
    .select(['id', 'client_id', 'sealed_plan'])
    .where('emr', '=', ehr.id)
    .where('care_unit_id', '=', careUnit.id)
    .where('kind', '=', kindName)
    .where('next_attempt_at', 'is not', null)
    .where('state', '<>', 'done')
    .where('id', '<>', writeId)
    .orderBy('id')
    .execute();
  const other = others.find(({ id, client_id, sealed_plan }) => {
    try {
      return sealed_plan === null || matches(openPlan(services.keys, client_id, id, sealed_plan));
    } catch {
      return true;
    }
  });
  work.isContested ||= other !== undefined && other.id < writeId;
  return other !== undefined;
}
