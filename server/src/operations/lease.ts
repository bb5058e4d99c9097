import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { LeaseLost } from './errors.ts';
import type { Leased } from './stored-operation.ts';

/** When a lease that begins now expires. */
export const leaseEnd = (seconds: number | RawBuilder<number>) => sql<Date>`now() + make_interval(secs => ${seconds})`;

/** Column values of a lease that nobody holds. */
export const released = { lease_token: null, lease_expires_at: null };

/** An update that applies only while this process holds the lease. */
export function updateLeased(db: Db | Tx, { id, token }: Pick<Leased, 'id' | 'token'>) {
  return db.updateTable('operations').where('id', '=', id).where('lease_token', '=', token);
}

/** @throws LeaseLost when the update matched no row: another process holds the lease */
export async function requireLease(update: Promise<{ readonly numUpdatedRows: bigint }>): Promise<void> {
  if ((await update).numUpdatedRows === 0n) throw new LeaseLost();
}

/** @throws LeaseLost */
export function renewLease(db: Db, operation: Leased, seconds: number): Promise<void> {
  const until = leaseEnd(seconds);
  return requireLease(
    updateLeased(db, operation).set({ lease_expires_at: until, next_attempt_at: until }).executeTakeFirst(),
  );
}

/** Any process may lease the operation next. */
export async function releaseLease(db: Db | Tx, operation: Leased): Promise<void> {
  await updateLeased(db, operation).set(released).execute();
}

/** Releases the lease after `outcome_unknown` was reported. A retry or background recovery may find out the outcome. */
export async function releaseAsUnknown(db: Db, operation: Leased): Promise<void> {
  await updateLeased(db, operation)
    .set({
      ...released,
      reported_unknown: true,
      suspended_at: null,
      next_attempt_at: sql<Date>`CASE WHEN sealed_plan IS NOT NULL THEN now() END`,
    })
    .execute();
}

/** Schedules the next attempt of background recovery, or suspends the operation. */
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
  /** Failures of this kind in a row. */
  readonly failures: number;
  readonly isSuspended: boolean;
}
