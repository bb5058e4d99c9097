import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { LeaseLost } from './errors.ts';
import { fenced, leaseEnd, released, updateLeased } from './lease.ts';
import type { Leased } from './stored-operation.ts';

/** What an operation that has ended holds. */
const ended = { state: 'done' as const, patient_hashes: [], consecutive_failures: 0, suspended_at: null };
const over = { ...released, ...ended };

/**
 * Ends an operation: its answer is kept under its key, else nothing is left of it.
 *
 * @throws LeaseLost
 */
export async function storeAnswer(db: Db | Tx, operation: Leased, sealedResponse: Buffer | undefined): Promise<void> {
  if (sealedResponse === undefined) return removeOperation(db, operation);
  const values = { ...over, sealed_plan: null, sealed_response: sealedResponse, next_attempt_at: null };
  await fenced(updateLeased(db, operation).set(values).executeTakeFirst());
}

/** @throws LeaseLost */
export async function removeOperation(db: Db | Tx, { id, token }: Leased): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('operations')
    .where('id', '=', id)
    .where('lease_token', '=', token)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw new LeaseLost();
}

/** In a commit that does not wait for the disk. @throws LeaseLost */
export async function removeRelaxed(db: Db | Tx, { id, token }: Leased): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    DELETE FROM operations USING relaxed WHERE id = ${id} AND lease_token = ${token} RETURNING id`.execute(db);
  if (rows.length === 0) throw new LeaseLost();
}

/** Ended as not done, while whoever holds the lease begins anew: until then it is monitored. @throws LeaseLost */
export function markNotDone(db: Db | Tx, operation: Leased): Promise<void> {
  const values = { ...ended, next_attempt_at: sql<Date>`lease_expires_at` };
  return fenced(updateLeased(db, operation).set(values).executeTakeFirst());
}

/** Ended as not done. It is monitored all the same: the EHR may be late. @throws LeaseLost */
export function monitor(db: Db | Tx, operation: Leased, seconds: number, sealedResponse?: Buffer): Promise<void> {
  const values = {
    ...over,
    next_attempt_at: leaseEnd(seconds),
    ...(sealedResponse === undefined ? {} : { sealed_response: sealedResponse }),
  };
  return fenced(updateLeased(db, operation).set(values).executeTakeFirst());
}

/** Ended with effect. It is monitored all the same: the EHR may do it a second time. @throws LeaseLost */
export function monitorRepeats(
  db: Db | Tx,
  operation: Leased,
  seconds: number,
  sealedResponse: Buffer | undefined,
): Promise<void> {
  const values = {
    ...over,
    had_effect: true,
    next_attempt_at: leaseEnd(seconds),
    ...(sealedResponse === undefined ? {} : { sealed_response: sealedResponse }),
  };
  return fenced(updateLeased(db, operation).set(values).executeTakeFirst());
}

/** What was monitored for has been seen to: the answer stays as it is. */
export async function stopMonitoring(db: Db | Tx, operation: Leased): Promise<void> {
  await updateLeased(db, operation)
    .set({ ...over, sealed_plan: null, next_attempt_at: null })
    .execute();
}
