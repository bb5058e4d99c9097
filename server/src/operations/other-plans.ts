import type { Work } from './kind.ts';
import { openPlan } from './stored-operation.ts';

/**
 * Whether another open operation of this kind in the care unit has a plan that matches, or one that cannot be decrypted.
 *
 * @param matches gets a plan of the kind
 */
export async function isPlannedElsewhere(
  { services, ehr, careUnit, operationId }: Work,
  kindName: string,
  matches: (plan: unknown) => boolean,
): Promise<boolean> {
  const others = await services.db
    .selectFrom('operations')
    .select(['id', 'client_id', 'sealed_plan'])
    .where('emr', '=', ehr.id)
    .where('care_unit_id', '=', careUnit.id)
    .where('kind', '=', kindName)
    .where('next_attempt_at', 'is not', null)
    .where('state', '<>', 'done')
    .where('id', '<>', operationId)
    .execute();
  return others.some(({ id, client_id, sealed_plan }) => {
    try {
      return sealed_plan === null || matches(openPlan(services.keys, client_id, id, sealed_plan));
    } catch {
      return true;
    }
  });
}
