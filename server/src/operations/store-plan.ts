import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { statement } from '../db/statement.ts';
import { LeaseLost } from './errors.ts';
import { leaseEnd, releaseLease, requireLease, updateLeased } from './lease.ts';
import type { Leased } from './stored-operation.ts';

/** What a plan reserves while its operation is open. */
export interface Reservation {
  /** Lifetime of the holds and codes that it creates. */
  readonly lifetimeSeconds: number | null;
  /** Of the patients who get a code. */
  readonly patientHashes: Buffer[];
}

export const nothingReserved: Reservation = { lifetimeSeconds: null, patientHashes: [] };

export interface Planned extends Reservation {
  readonly kind: string;
  readonly sealedPlan: Buffer;
  readonly leaseSeconds: number;
}

/** Column values just before the EHR is called. Background recovery takes over when the lease expires. */
export function plannedValues({ kind, sealedPlan, leaseSeconds, lifetimeSeconds, patientHashes }: Values<Planned>) {
  return {
    kind,
    state: 'pending' as const,
    sealed_plan: sealedPlan,
    lease_expires_at: leaseEnd(leaseSeconds),
    next_attempt_at: leaseEnd(leaseSeconds),
    first_sent_at: sql<Date>`now()`,
    last_sent_at: sql<Date>`now()`,
    reported_unknown: false,
    consecutive_failures: 0,
    patient_hashes: patientHashes,
    // Null without a lifetime.
    expires_at: sql<Date | null>`date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => ${lifetimeSeconds})`,
  };
}

/** Values, or expressions of SQL for them. */
export type Values<Input> = { readonly [Name in keyof Input]: Input[Name] | RawBuilder<Input[Name]> };

type PlanInput = Planned & Pick<Leased, 'id' | 'clientId' | 'emr' | 'careUnitId' | 'token'>;

const insertPlan = statement((db, input: PlanInput) =>
  db
    .insertInto('operations')
    .values({
      ...plannedValues(input),
      id: input.id,
      client_id: input.clientId,
      emr: input.emr,
      care_unit_id: input.careUnitId,
      lease_token: input.token,
    })
    .returning('expires_at'),
);

const updatePlan = statement((db, input: PlanInput) =>
  updateLeased(db, input).set(plannedValues(input)).returning('expires_at'),
);

/**
 * Stores the plan in the row of its key or in a new row. Returns when its holds and codes expire.
 *
 * @throws LeaseLost when another request has claimed the key
 */
export async function storePlan(db: Db | Tx, operation: Leased, planned: Planned): Promise<Date | null> {
  const store = operation.keyHash === undefined ? insertPlan : updatePlan;
  const { rows } = await store(db, { ...operation, ...planned });
  const [stored] = rows;
  if (!stored) throw new LeaseLost();
  return stored.expires_at;
}

/** Records that the EHR is called once more. @throws LeaseLost */
export function markSent(db: Db, operation: Leased): Promise<void> {
  return requireLease(updateLeased(db, operation).set({ last_sent_at: sql<Date>`now()` }).executeTakeFirst());
}

/** @throws LeaseLost */
export function markCompensating(db: Db, operation: Leased): Promise<void> {
  return requireLease(updateLeased(db, operation).set({ state: 'compensating' }).executeTakeFirst());
}

/** Removes the plan. The holder of the lease starts over. @throws LeaseLost */
export function clearPlan(db: Db | Tx, operation: Leased, attempt: number): Promise<void> {
  const values = {
    state: 'pending' as const,
    sealed_plan: null,
    kind: null,
    attempt,
    next_attempt_at: null,
    patient_hashes: [],
    first_sent_at: null,
    last_sent_at: null,
    consecutive_failures: 0,
    suspended_at: null,
    reported_unknown: false,
    expires_at: null,
  };
  return requireLease(updateLeased(db, operation).set(values).executeTakeFirst());
}

/** Like `clearPlan`, and releases the lease so that a retry can start over. @throws LeaseLost */
export async function resetForRetry(db: Db | Tx, operation: Leased, attempt: number): Promise<void> {
  await clearPlan(db, operation, attempt);
  await releaseLease(db, operation);
}
