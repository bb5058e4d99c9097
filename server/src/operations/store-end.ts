import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { statement } from '../db/statement.ts';
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
  const { numAffectedRows } = await updateResponse(db, { ...operation, sealedResponse });
  if (numAffectedRows === 0n) throw new LeaseLost();
}

const updateResponse = statement((db, input: Pick<Leased, 'id' | 'token'> & { readonly sealedResponse: Buffer }) =>
  updateLeased(db, input).set({
    ...over,
    sealed_plan: null,
    sealed_response: input.sealedResponse,
    next_attempt_at: null,
  }),
);

/** @throws LeaseLost */
export async function removeOperation(db: Db | Tx, operation: Leased): Promise<void> {
  const { numAffectedRows } = await deleteOperation(db, operation);
  if (numAffectedRows === 0n) throw new LeaseLost();
}

const deleteOperation = statement((db, { id, token }: Pick<Leased, 'id' | 'token'>) =>
  db.deleteFrom('operations').where('id', '=', id).where('lease_token', '=', token),
);

/** Like `removeOperation`, but the commit does not wait for the disk. @throws LeaseLost */
export async function removeWithoutSync(db: Db | Tx, operation: Leased): Promise<void> {
  const { rows } = await deleteRelaxed(db, operation);
  if (rows.length === 0) throw new LeaseLost();
}

const deleteRelaxed = statement(
  (_db, { id, token }: Pick<Leased, 'id' | 'token'>) => sql<{ id: string }>`
    WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    DELETE FROM operations USING relaxed WHERE id = ${id} AND lease_token = ${token} RETURNING id`,
);

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
