import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { openPlan } from '../writes/stored-write.ts';
import { type AnyKind, kindOf } from '../writes/write-kind.ts';

interface Services {
  readonly db: Db;
  readonly keys: KeyRing;
  readonly kinds: ReadonlyMap<string, AnyKind>;
}

/**
 * What the steps of a stored plan do, without personal data. Empty if the kind has one step. `undefined`: the plan cannot be
 * decrypted.
 */
export async function plannedSteps({ db, keys, kinds }: Services, id: string): Promise<readonly string[] | undefined> {
  const row = await db
    .selectFrom('operations')
    .select(['client_id', 'kind', 'sealed_plan'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row?.sealed_plan) return undefined;
  try {
    const plan = openPlan(keys, row.client_id, id, row.sealed_plan);
    return kindOf(kinds, row.kind, plan)?.stepsOf?.(plan) ?? [];
  } catch {
    return undefined;
  }
}
