import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { LeaseLost } from './errors.ts';
import { leaseEnd, released, requireLease, updateLeased } from './lease.ts';
import type { Leased } from './stored-operation.ts';

/** Column values of an ended operation. */
const ended = { state: 'done' as const, patient_hashes: [], consecutive_failures: 0, suspended_at: null };
const over = { ...released, ...ended };

/**
 * Ends an operation. With a key its response is stored; without one its row is deleted.
 *
 * @throws LeaseLost
 */
export async function storeResponse(db: Db | Tx, operation: Leased, sealedResponse: Buffer | undefined): Promise<void> {
  if (sealedResponse === undefined) return removeOperation(db, operation);
  const values = { ...over, sealed_plan: null, sealed_response: sealedResponse, next_attempt_at: null };
  await requireLease(updateLeased(db, operation).set(values).executeTakeFirst());
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

/** Like `removeOperation`, but the commit does not wait for the disk. @throws LeaseLost */
export async function removeWithoutSync(db: Db | Tx, { id, token }: Leased): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    DELETE FROM operations USING relaxed WHERE id = ${id} AND lease_token = ${token} RETURNING id`.execute(db);
  if (rows.length === 0) throw new LeaseLost();
}

/** Ends an attempt without effect under a lease that starts over. Monitored until then. @throws LeaseLost */
export function markNotDone(db: Db | Tx, operation: Leased): Promise<void> {
  const values = { ...ended, next_attempt_at: sql<Date>`lease_expires_at` };
  return requireLease(updateLeased(db, operation).set(values).executeTakeFirst());
}

/** Ends an operation without effect and monitors it, since the EHR may be late. @throws LeaseLost */
export function monitor(db: Db | Tx, operation: Leased, seconds: number, sealedResponse?: Buffer): Promise<void> {
  const values = {
    ...over,
    next_attempt_at: leaseEnd(seconds),
    ...(sealedResponse === undefined ? {} : { sealed_response: sealedResponse }),
  };
  return requireLease(updateLeased(db, operation).set(values).executeTakeFirst());
}

/** Ends an operation with effect, and monitors it: the EHR may make its changes a second time. @throws LeaseLost */
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
  return requireLease(updateLeased(db, operation).set(values).executeTakeFirst());
}

/** Ends monitoring. The stored response stays. */
export async function stopMonitoring(db: Db | Tx, operation: Leased): Promise<void> {
  await updateLeased(db, operation)
    .set({ ...over, sealed_plan: null, next_attempt_at: null })
    .execute();
}
