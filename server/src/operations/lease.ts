import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { LeaseLost } from './errors.ts';
import type { Leased } from './stored-operation.ts';

/** The end of a lease that begins now. */
export const leaseEnd = (seconds: number) => sql<Date>`now() + make_interval(secs => ${seconds})`;

/** What the columns of a lease hold when nobody has it. */
export const released = { lease_token: null, lease_expires_at: null };

/** An update of an operation under our lease alone. */
export function updateLeased(db: Db | Tx, { id, token }: Pick<Leased, 'id' | 'token'>) {
  return db.updateTable('operations').where('id', '=', id).where('lease_token', '=', token);
}

/** @throws LeaseLost when the update found no row: somebody else has the lease */
export async function fenced(update: Promise<{ readonly numUpdatedRows: bigint }>): Promise<void> {
  if ((await update).numUpdatedRows === 0n) throw new LeaseLost();
}

/** @throws LeaseLost */
export function renewLease(db: Db, operation: Leased, seconds: number): Promise<void> {
  const until = leaseEnd(seconds);
  return fenced(
    updateLeased(db, operation).set({ lease_expires_at: until, next_attempt_at: until }).executeTakeFirst(),
  );
}

/** Whoever comes next may work on it. */
export async function releaseLease(db: Db | Tx, operation: Leased): Promise<void> {
  await updateLeased(db, operation).set(released).execute();
}

/** The caller is told that the outcome is unknown: from now on a retry and background work may find it out. */
export async function giveBack(db: Db, operation: Leased): Promise<void> {
  await updateLeased(db, operation)
    .set({
      ...released,
      reported_unknown: true,
      suspended_at: null,
      next_attempt_at: sql<Date>`CASE WHEN sealed_plan IS NOT NULL THEN now() END`,
    })
    .execute();
}

/** Background work has got nowhere, and comes back. */
export async function postpone(
  db: Db | Tx,
  operation: Leased,
  { seconds, failure, failures, isSuspended }: Postponement,
): Promise<void> {
  await updateLeased(db, operation)
    .set({
      ...released,
      next_attempt_at: isSuspended ? null : leaseEnd(seconds),
      last_failure: failure ?? null,
      consecutive_failures: failures,
      ...(isSuspended ? { suspended_at: sql<Date>`now()` } : {}),
    })
    .execute();
}

interface Postponement {
  readonly seconds: number;
  readonly failure?: string | undefined;
  /** Of this kind, in a row. */
  readonly failures: number;
  readonly isSuspended: boolean;
}
