import { type RawBuilder, sql, type UpdateObject } from 'kysely';
import type { Db, Tx } from './kysely.ts';
import type { Tables } from './tables/index.ts';

/** Another process has taken over the write, and reports its outcome. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** A write, and the token of the lease that this process holds. */
interface Lease {
  readonly id: string;
  readonly token: string;
}

/** When a lease that begins now expires. */
export const leaseEnd = (seconds: number | RawBuilder<number>) => sql<Date>`now() + make_interval(secs => ${seconds})`;

/** Column values of a lease that nobody holds. */
export const withoutLease = { lease_token: null, lease_expires_at: null };

/** An update that applies only while this process holds the lease. */
export function updateLeased(db: Db | Tx, { id, token }: Lease) {
  return db.updateTable('operations').where('id', '=', id).where('lease_token', '=', token);
}

/** Sets columns of a write. @throws LeaseLost when another process holds the lease */
export async function setLeased(db: Db | Tx, lease: Lease, values: UpdateObject<Tables, 'operations'>): Promise<void> {
  const { numUpdatedRows } = await updateLeased(db, lease).set(values).executeTakeFirst();
  if (numUpdatedRows === 0n) throw new LeaseLost();
}

/** Any process may lease the write next. */
export async function releaseLease(db: Db | Tx, lease: Lease): Promise<void> {
  await updateLeased(db, lease).set(withoutLease).execute();
}
