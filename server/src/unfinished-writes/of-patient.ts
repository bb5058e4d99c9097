import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { openPlan } from '../writes/stored-write.ts';

/** Ids of writes at an EHR that are not finished, or watched for late effects, and may be about a patient. */
export async function unfinishedOfPatient(
  db: Db | Tx,
  keys: KeyRing,
  emr: string,
  patientId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('operations')
    .select(['id', 'client_id', 'sealed_plan'])
    .where('emr', '=', emr)
    .where('sealed_plan', 'is not', null)
    .execute();
  return rows
    .filter(({ id, client_id, sealed_plan }) => {
      try {
        return sealed_plan !== null && names(openPlan(keys, client_id, id, sealed_plan), patientId);
      } catch {
        // It may be about anybody.
        return true;
      }
    })
    .map(({ id }) => id);
}

/** Whether a text somewhere in a plan is this id. */
function names(value: unknown, id: string): boolean {
  if (typeof value === 'string') return value === id || value === `emr_id:${id}`;
  return typeof value === 'object' && value !== null && Object.values(value).some((it) => names(it, id));
}

/** How many responses to writes are stored, and until when at most. */
export interface StoredResponses {
  readonly count: number;
  readonly until: Date | null;
}

/** The stored responses of these writes. They are deleted a day after the write. */
export async function storedResponses(db: Db | Tx, operationIds: readonly string[]): Promise<StoredResponses> {
  const { rows } = await sql<StoredResponses>`
    SELECT count(*)::int AS count, max(created_at) + interval '24 hours' AS until FROM operations
    WHERE id = ANY(${operationIds}::uuid[]) AND sealed_response IS NOT NULL`.execute(db);
  return rows[0] as StoredResponses;
}
