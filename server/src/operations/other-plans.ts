import type { Work } from './kind.ts';
import { openPlan } from './stored-operation.ts';

/**
 * Whether another open operation of this kind in the care unit has a plan that matches, or one that cannot be decrypted.
 *
 * @param matches gets a plan of the kind
 */
export async function isPlannedElsewhere(
  work: Work,
  kindName: string,
  matches: (plan: unknown) => boolean,
): Promise<boolean> {
  const others = await otherPlans(work);
  return others.some(({ kind, plan }) => kind === kindName && (plan === undefined || matches(plan)));
}

/** Plans of all other open operations in the care unit. `undefined` for a plan that cannot be decrypted. */
async function otherPlans({ services, ehr, careUnit, operationId }: Work) {
  const rows = await services.db
    .selectFrom('operations')
    .select(['id', 'client_id', 'kind', 'sealed_plan'])
    .where('emr', '=', ehr.id)
    .where('care_unit_id', '=', careUnit.id)
    .where('next_attempt_at', 'is not', null)
    .where('state', '<>', 'done')
    .where('id', '<>', operationId)
    .execute();
  return rows.map(({ id, client_id, kind, sealed_plan }) => {
    if (sealed_plan === null) return { kind, plan: undefined };
    try {
      return { kind, plan: openPlan(services.keys, client_id, id, sealed_plan) };
    } catch {
      return { kind, plan: undefined };
    }
  });
}
