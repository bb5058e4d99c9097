import type { Work } from '../operations/kind.ts';
import { openPlan } from '../operations/stored-operation.ts';

/**
 * Whether another open operation of this kind in the care unit has a plan that matches, or one that cannot be decrypted. The
 * work is contested if that one ends first: of two that wait for each other, the one with the lower id.
 */
export async function isPlannedElsewhere(
  work: Work,
  kindName: string,
  matches: (plan: unknown) => boolean,
): Promise<boolean> {
  const { services, ehr, careUnit, operationId } = work;
  const others = await services.db
    .selectFrom('operations')
    .select(['id', 'client_id', 'sealed_plan'])
    .where('emr', '=', ehr.id)
    .where('care_unit_id', '=', careUnit.id)
    .where('kind', '=', kindName)
    .where('next_attempt_at', 'is not', null)
    .where('state', '<>', 'done')
    .where('id', '<>', operationId)
    .orderBy('id')
    .execute();
  const other = others.find(({ id, client_id, sealed_plan }) => {
    try {
      return sealed_plan === null || matches(openPlan(services.keys, client_id, id, sealed_plan));
    } catch {
      return true;
    }
  });
  work.isContested ||= other !== undefined && other.id < operationId;
  return other !== undefined;
}
