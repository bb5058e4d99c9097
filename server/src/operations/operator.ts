import { sql } from 'kysely';
import { waitAgain } from '../confirmations/store.ts';
import type { Db, Tx } from '../db/kysely.ts';

/**
 * - `pending`: to be done, or to be looked up
 * - `compensating`: what the EHR has done of it is being taken back
 * - `monitored`: ended; the EHR is looked at for effects that turn up late, or a second time
 * - `suspended`: given up by background work, until an operator says what becomes of it
 */
export type OperatorState = 'pending' | 'compensating' | 'monitored' | 'suspended';

/** An operation that has not come to rest, as an operator sees it. Nothing of it is anybody's. */
export interface OpenOperation {
  readonly id: string;
  /** `background`: nobody asked for it. */
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly kind: string;
  readonly state: OperatorState;
  readonly isKeyed: boolean;
  readonly isAnswered: boolean;
  readonly reportedUnknown: boolean;
  /** How often it was begun anew after it had been taken back. */
  readonly attempt: number;
  /** How often background work on it has failed in a row. */
  readonly failures: number;
  /** What failed last: a reason of ours. */
  readonly lastFailure: string | null;
  readonly ageSeconds: number;
  readonly createdAt: Date;
  readonly firstSentAt: Date | null;
  readonly lastSentAt: Date | null;
  /** Null: none is to come. */
  readonly nextAttemptAt: Date | null;
  /** Null: nobody works on it at this moment. */
  readonly leaseExpiresAt: Date | null;
  readonly expiresAt: Date | null;
  readonly suspendedAt: Date | null;
}

/** Every row with a plan has one of the two, and both have an index. */
const isOpen = sql<boolean>`sealed_plan IS NOT NULL AND (next_attempt_at IS NOT NULL OR suspended_at IS NOT NULL)`;

const columns = sql`
  id, client_id AS "clientId", emr, care_unit_id AS "careUnitId", kind,
  CASE WHEN suspended_at IS NOT NULL THEN 'suspended' WHEN state = 'done' THEN 'monitored' ELSE state END AS state,
  idempotency_key_hash IS NOT NULL AS "isKeyed", sealed_response IS NOT NULL AS "isAnswered", reported_unknown AS "reportedUnknown",
  attempt, consecutive_failures AS failures, last_failure AS "lastFailure",
  floor(extract(epoch FROM now() - created_at))::int AS "ageSeconds",
  created_at AS "createdAt", first_sent_at AS "firstSentAt", last_sent_at AS "lastSentAt", next_attempt_at AS "nextAttemptAt",
  CASE WHEN lease_expires_at > now() THEN lease_expires_at END AS "leaseExpiresAt", expires_at AS "expiresAt",
  suspended_at AS "suspendedAt"`;

/** Those that wait for an operator first, then the oldest. At most `limit`. */
export async function listOpenOperations(db: Db, limit: number): Promise<OpenOperation[]> {
  const { rows } = await sql<OpenOperation>`
    SELECT ${columns} FROM operations WHERE ${isOpen}
    ORDER BY suspended_at IS NULL, operations.created_at, operations.id LIMIT ${limit}`.execute(db);
  return rows;
}

export async function findOpenOperation(db: Db, id: string): Promise<OpenOperation | undefined> {
  if (!isUuid(id)) return undefined;
  const { rows } = await sql<OpenOperation>`SELECT ${columns} FROM operations WHERE id = ${id} AND ${isOpen}`.execute(
    db,
  );
  return rows[0];
}

/**
 * Lets background work take a suspended one up again at once, or as soon as a caller who is at it has done. `false`: none
 * with this id is suspended.
 */
export async function retrySuspended(db: Db, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { numAffectedRows } = await sql`
    UPDATE operations SET suspended_at = NULL, consecutive_failures = 0, next_attempt_at = greatest(now(), lease_expires_at)
    WHERE id = ${id} AND suspended_at IS NOT NULL`.execute(db);
  return numAffectedRows === 1n;
}

export type Dropped = 'dropped' | 'being worked on' | 'not found';

/**
 * Gives an operation up, whatever has become of it in the EHR: codes that it was confirming wait again, holds that it was
 * giving up count as given up, and its key is free. An answer that its caller has got already is kept.
 */
export function dropOperation(db: Db, id: string): Promise<Dropped> {
  if (!isUuid(id)) return Promise.resolve('not found');
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ is_leased: boolean; is_answered: boolean }>`
      SELECT coalesce(lease_expires_at > now(), false) AS is_leased, sealed_response IS NOT NULL AS is_answered
      FROM operations WHERE id = ${id} AND ${isOpen} FOR UPDATE`.execute(tx);
    const [row] = rows;
    if (!row) return 'not found';
    if (row.is_leased) return 'being worked on';
    await waitAgain(tx, id);
    await countAsExpired(tx, id);
    await (row.is_answered ? keepAnswerOnly(tx, id) : tx.deleteFrom('operations').where('id', '=', id).execute());
    return 'dropped';
  });
}

async function countAsExpired(tx: Tx, operationId: string): Promise<void> {
  await tx
    .updateTable('confirmation_items')
    .set({ state: 'expired', operation_id: null })
    .where('operation_id', '=', operationId)
    .where('state', '=', 'expiring')
    .execute();
}

async function keepAnswerOnly(tx: Tx, id: string): Promise<void> {
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

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
