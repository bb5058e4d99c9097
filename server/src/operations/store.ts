import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { LeaseLost } from './errors.ts';

/** An operation under a lease of ours. */
export interface Leased {
  readonly id: string;
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  /** Under an Idempotency-Key. */
  readonly keyHash: Buffer | undefined;
  readonly token: string;
  readonly attempt: number;
  /** The EHR was asked for this attempt before, and has shown nothing of it. The plan is still stored, and monitored. */
  readonly isMonitored?: boolean;
  /** Of the request that is at it, for whoever is told the same later. */
  readonly requestId?: string;
}

/** An operation that was begun before, as it was found. */
export interface Stored extends Leased {
  readonly kind: string | undefined;
  readonly state: 'pending' | 'compensating' | 'done';
  readonly plan: unknown;
  readonly isAnswered: boolean;
  readonly reportedUnknown: boolean;
  readonly failures: number;
  readonly expiresAt: Date | null;
  /** Its holds and codes have run out. */
  readonly hasRunOut: boolean;
  /** Seconds since the EHR was first and last asked to do it. */
  readonly age: number;
  readonly silence: number;
}

/** What an operation is read with: the columns of `OperationRow`, in SQL over `operations`. */
export const storedColumns = sql`
  operations.id, operations.client_id, operations.emr, operations.care_unit_id, operations.idempotency_key_hash, operations.kind,
  operations.state, operations.sealed_plan, operations.sealed_response, operations.attempt, operations.consecutive_failures,
  operations.last_failure,
  operations.reported_unknown, operations.expires_at,
  coalesce(operations.expires_at <= now(), false) AS has_run_out,
  coalesce(extract(epoch FROM now() - operations.first_sent_at), 0)::float8 AS age,
  coalesce(extract(epoch FROM now() - operations.last_sent_at), 0)::float8 AS silence`;

export interface OperationRow {
  readonly id: string;
  readonly client_id: string;
  readonly emr: string;
  readonly care_unit_id: string;
  readonly idempotency_key_hash: Buffer | null;
  readonly kind: string | null;
  readonly state: Stored['state'];
  readonly sealed_plan: Buffer | null;
  readonly sealed_response: Buffer | null;
  readonly attempt: number;
  readonly consecutive_failures: number;
  readonly last_failure: string | null;
  readonly reported_unknown: boolean;
  readonly expires_at: Date | null;
  readonly has_run_out: boolean;
  readonly age: number;
  readonly silence: number;
}

/** @throws Error when the plan was sealed with a secret key that is not known */
export function openStored(keys: KeyRing, token: string, row: OperationRow): Stored {
  return {
    id: row.id,
    clientId: row.client_id,
    emr: row.emr,
    careUnitId: row.care_unit_id,
    keyHash: row.idempotency_key_hash ?? undefined,
    token,
    attempt: row.attempt,
    kind: row.kind ?? undefined,
    state: row.state,
    plan: row.sealed_plan === null ? undefined : openPlan(keys, row.client_id, row.id, row.sealed_plan),
    isAnswered: row.sealed_response !== null,
    reportedUnknown: row.reported_unknown,
    failures: row.consecutive_failures,
    expiresAt: row.expires_at,
    hasRunOut: row.has_run_out,
    age: row.age,
    silence: row.silence,
  };
}

const dates = new Set(['start', 'end', 'heldUntil', 'holdUntil', 'expiresAt']);

export function openPlan(keys: KeyRing, clientId: string, id: string, sealed: Buffer): unknown {
  const text = keys.open('write', sealed, planContext({ clientId, id }));
  if (text === undefined) throw new Error('A stored plan cannot be opened: its secret key is not known');
  return JSON.parse(text, (key, value) => (dates.has(key) && typeof value === 'string' ? new Date(value) : value));
}

export function sealPlan(keys: KeyRing, operation: Pick<Leased, 'clientId' | 'id'>, plan: unknown): Buffer {
  return keys.seal('write', JSON.stringify(plan), planContext(operation));
}

function planContext({ clientId, id }: Pick<Leased, 'clientId' | 'id'>): string {
  return `write ${clientId} ${id}`;
}

/** The end of a lease that begins now. */
export const leaseEnd = (seconds: number) => sql<Date>`now() + make_interval(secs => ${seconds})`;

export interface Planned {
  readonly kind: string;
  readonly sealedPlan: Buffer;
  readonly leaseSeconds: number;
  /** Of the holds and codes that it makes. */
  readonly lifetimeSeconds: number | undefined;
  readonly patientHashes: readonly Buffer[];
}

/** What is about to be done, and since when: the EHR is asked next. Background work takes it when the lease has ended. */
function plannedValues({ kind, sealedPlan, leaseSeconds, lifetimeSeconds, patientHashes }: Planned) {
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
    patient_hashes: [...patientHashes],
    expires_at: expiryIn(lifetimeSeconds),
  };
}

function expiryIn(lifetimeSeconds: number | undefined) {
  return lifetimeSeconds === undefined
    ? null
    : sql<Date>`date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => ${lifetimeSeconds})`;
}

/**
 * Stores the plan: under its key, or as a new row. Answers when its holds and codes run out.
 *
 * @throws LeaseLost when somebody else has taken the key over
 */
export async function storePlan(db: Db | Tx, operation: Leased, planned: Planned): Promise<Date | null> {
  const stored =
    operation.keyHash === undefined
      ? await db
          .insertInto('operations')
          .values({
            ...plannedValues(planned),
            id: operation.id,
            client_id: operation.clientId,
            idempotency_key_hash: null,
            request_hash: null,
            emr: operation.emr,
            care_unit_id: operation.careUnitId,
            lease_token: operation.token,
          })
          .returning('expires_at')
          .executeTakeFirstOrThrow()
      : await ours(db, operation).set(plannedValues(planned)).returning('expires_at').executeTakeFirst();
  if (!stored) throw new LeaseLost();
  return stored.expires_at;
}

function ours(db: Db | Tx, { id, token }: Pick<Leased, 'id' | 'token'>) {
  return db.updateTable('operations').where('id', '=', id).where('lease_token', '=', token);
}

async function fenced(update: Promise<{ readonly numUpdatedRows: bigint }>): Promise<void> {
  if ((await update).numUpdatedRows === 0n) throw new LeaseLost();
}

/** @throws LeaseLost */
export function renewLease(db: Db, operation: Leased, seconds: number): Promise<void> {
  const until = leaseEnd(seconds);
  return fenced(ours(db, operation).set({ lease_expires_at: until, next_attempt_at: until }).executeTakeFirst());
}

/** The EHR is asked to do it once more. @throws LeaseLost */
export function markSent(db: Db, operation: Leased): Promise<void> {
  return fenced(ours(db, operation).set({ last_sent_at: sql<Date>`now()` }).executeTakeFirst());
}

/** @throws LeaseLost */
export function markCompensating(db: Db, operation: Leased): Promise<void> {
  return fenced(ours(db, operation).set({ state: 'compensating' }).executeTakeFirst());
}

const released = { lease_token: null, lease_expires_at: null };
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
  await fenced(ours(db, operation).set(values).executeTakeFirst());
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
  return fenced(ours(db, operation).set(values).executeTakeFirst());
}

/** Nothing is planned under the key any more, and whoever holds the lease begins anew. @throws LeaseLost */
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
  return fenced(ours(db, operation).set(values).executeTakeFirst());
}

/** As `clearPlan`, for a retry to begin anew. @throws LeaseLost */
export async function forgetPlan(db: Db | Tx, operation: Leased, attempt: number): Promise<void> {
  await clearPlan(db, operation, attempt);
  await releaseLease(db, operation);
}

/** Whoever comes next may work on it. */
export async function releaseLease(db: Db | Tx, operation: Leased): Promise<void> {
  await ours(db, operation).set(released).execute();
}

/** What was monitored for has been seen to: the answer stays as it is. */
export async function stopMonitoring(db: Db | Tx, operation: Leased): Promise<void> {
  await ours(db, operation)
    .set({ ...over, sealed_plan: null, next_attempt_at: null })
    .execute();
}

/** The caller is told that the outcome is unknown: from now on a retry and background work may find it out. */
export async function giveBack(db: Db, operation: Leased): Promise<void> {
  await ours(db, operation)
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
  await ours(db, operation)
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

/** Ended as not done. It is monitored all the same: the EHR may be late. @throws LeaseLost */
export function monitor(db: Db | Tx, operation: Leased, seconds: number, sealedResponse?: Buffer): Promise<void> {
  const values = {
    ...over,
    next_attempt_at: leaseEnd(seconds),
    ...(sealedResponse === undefined ? {} : { sealed_response: sealedResponse }),
  };
  return fenced(ours(db, operation).set(values).executeTakeFirst());
}
