import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { inTransactionOrUnknown } from '../db/transactions.ts';
import { isUuid } from '../identifiers/uuid.ts';
import type { AnyKind } from '../writes/write-kind.ts';

/**
 * - `pending`: to be performed or looked up
 * - `compensating`: its changes in the EHR are being reverted
 * - `monitored`: ended; background recovery looks for late effects in the EHR, or for effects that it made twice
 * - `suspended`: background recovery gave up; an operator decides
 */
export type OperatorState = 'pending' | 'compensating' | 'monitored' | 'suspended';

/** An open write as an operator sees it. Contains no personal data. */
export interface OpenWrite {
  readonly id: string;
  /** `background` for writes of background jobs. */
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly kind: string;
  readonly state: OperatorState;
  readonly isKeyed: boolean;
  readonly hasResponse: boolean;
  readonly reportedUnknown: boolean;
  /** How often it was restarted after compensation. */
  readonly attempt: number;
  /** Failures of background recovery in a row. */
  readonly failures: number;
  /** Reason of the last failure. */
  readonly lastFailure: string | null;
  readonly ageSeconds: number;
  readonly createdAt: Date;
  readonly firstSentAt: Date | null;
  readonly lastSentAt: Date | null;
  /** Null: none is scheduled. */
  readonly nextAttemptAt: Date | null;
  /** Null: no process holds the lease. */
  readonly leaseExpiresAt: Date | null;
  readonly expiresAt: Date | null;
  readonly suspendedAt: Date | null;
}

/** Every row with a plan has one of the two timestamps set. Both are indexed. */
const isOpen = sql<boolean>`sealed_plan IS NOT NULL AND (next_attempt_at IS NOT NULL OR suspended_at IS NOT NULL)`;

const state = sql<OperatorState>`
  CASE WHEN suspended_at IS NOT NULL THEN 'suspended' WHEN operations.state = 'done' THEN 'monitored'
    ELSE operations.state END`;

const columns = sql`
  id, client_id AS "clientId", emr, care_unit_id AS "careUnitId", kind, ${state} AS state,
  idempotency_key_hash IS NOT NULL AS "isKeyed", sealed_response IS NOT NULL AS "hasResponse", reported_unknown AS "reportedUnknown",
  attempt, consecutive_failures AS failures, last_failure AS "lastFailure",
  floor(extract(epoch FROM now() - created_at))::int AS "ageSeconds",
  created_at AS "createdAt", first_sent_at AS "firstSentAt", last_sent_at AS "lastSentAt", next_attempt_at AS "nextAttemptAt",
  CASE WHEN lease_expires_at > now() THEN lease_expires_at END AS "leaseExpiresAt", expires_at AS "expiresAt",
  suspended_at AS "suspendedAt"`;

/** How many writes are open, by EHR and state. */
export interface OpenCount {
  readonly emr: string;
  readonly state: OperatorState;
  readonly count: number;
}

/** Counts the open writes. */
export async function countOpenWrites(db: Db): Promise<OpenCount[]> {
  const { rows } = await sql<OpenCount>`
    SELECT emr, ${state} AS state, count(*)::int AS count FROM operations WHERE ${isOpen} GROUP BY 1, 2`.execute(db);
  return rows;
}

/** Suspended writes first, then by age. At most `limit`. */
export async function listOpenWrites(db: Db, limit: number): Promise<OpenWrite[]> {
  const { rows } = await sql<OpenWrite>`
    SELECT ${columns} FROM operations WHERE ${isOpen}
    ORDER BY suspended_at IS NULL, operations.created_at, operations.id LIMIT ${limit}`.execute(db);
  return rows;
}

export async function findOpenWrite(db: Db, id: string): Promise<OpenWrite | undefined> {
  if (!isUuid(id)) return undefined;
  const { rows } = await sql<OpenWrite>`SELECT ${columns} FROM operations WHERE id = ${id} AND ${isOpen}`.execute(db);
  return rows[0];
}

/**
 * Lets background recovery take a write at once, or a suspended one when its current lease expires. Returns `false`
 * if no write with this id waits: it has ended, or a process is working on it.
 */
export async function tryNow(db: Db, id: string): Promise<boolean> {
  return isUuid(id) && (await makeDue(db, sql`id = ${id}`)) === 1;
}

/** `tryNow` for all writes of an EHR that are suspended, or for all that are not. Returns how many. */
export function tryAllNow(db: Db, emr: string, { isSuspended }: { readonly isSuspended: boolean }): Promise<number> {
  return makeDue(db, sql`emr = ${emr} AND (suspended_at IS NOT NULL) = ${isSuspended}`);
}

/** Touches no lease: whoever has one keeps it, and only one process gets the next. */
async function makeDue(db: Db, condition: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE operations SET next_attempt_at = greatest(now(), lease_expires_at),
      consecutive_failures = CASE WHEN suspended_at IS NULL THEN consecutive_failures ELSE 0 END, suspended_at = NULL
    WHERE ${condition} AND ${isOpen} AND (suspended_at IS NOT NULL
      OR state <> 'done' AND (lease_expires_at IS NULL OR lease_expires_at <= now()))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** What an operator has seen of a write. It differs once a gateway has worked on it again. */
export function seenState({ state, attempt, failures, lastSentAt, suspendedAt }: OpenWrite): string {
  return [state, attempt, failures, lastSentAt?.getTime(), suspendedAt?.getTime()].join(' ');
}

export type Dropped = 'dropped' | 'being worked on' | 'changed' | 'not found';

/**
 * Drops a write, whatever its outcome in the EHR. Codes that it was confirming become pending again, holds that it
 * was releasing count as expired, and its key is free. A stored response is kept.
 */
export function dropWrite(db: Db, kinds: Kinds, id: string): Promise<Dropped> {
  return inTransactionOrUnknown(db, (tx) => dropInTransaction(tx, kinds, id));
}

type Kinds = ReadonlyMap<string, AnyKind>;

/**
 * `dropWrite` in a transaction of the caller.
 *
 * @param seen the write's `seenState` when the operator decided. If omitted, any state is dropped
 */
export async function dropInTransaction(tx: Tx, kinds: Kinds, id: string, seen?: string): Promise<Dropped> {
  if (!isUuid(id)) return 'not found';
  const { rows } = await sql<OpenWrite>`
    SELECT ${columns} FROM operations WHERE id = ${id} AND ${isOpen} FOR UPDATE`.execute(tx);
  const [write] = rows;
  if (!write) return 'not found';
  if (write.leaseExpiresAt) return 'being worked on';
  if (seen !== undefined && seen !== seenState(write)) return 'changed';
  await kinds.get(write.kind)?.drop?.(tx, id);
  await (write.hasResponse ? keepResponseOnly(tx, id) : tx.deleteFrom('operations').where('id', '=', id).execute());
  return 'dropped';
}

async function keepResponseOnly(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('operations')
    .set({
      state: 'done',
      sealed_plan: null,
      lease_token: null,
      lease_expires_at: null,
      next_attempt_at: null,
      suspended_at: null,
      patient_hashes: [],
    })
    .where('id', '=', id)
    .execute();
}
