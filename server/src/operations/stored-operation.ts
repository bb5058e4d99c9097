import { sql } from 'kysely';
import type { KeyRing } from '../secrets/key-ring.ts';

/** An operation whose lease this process holds. */
export interface Leased {
  readonly id: string;
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  /** `undefined` without an idempotency key. */
  readonly keyHash: Buffer | undefined;
  readonly token: string;
  readonly attempt: number;
  /** The EHR was called for this attempt before, without effect so far. The plan is still stored and monitored. */
  readonly isMonitored?: boolean;
  /** Id of the current request. A stored problem repeats it. */
  readonly requestId?: string;
}

/** An operation as read from the database. */
export interface Stored extends Leased {
  readonly kind: string | undefined;
  readonly state: 'pending' | 'compensating' | 'done';
  readonly plan: unknown;
  readonly hasResponse: boolean;
  readonly reportedUnknown: boolean;
  /** It ended with effect. It is monitored because the EHR may make its changes a second time. */
  readonly hadEffect: boolean;
  readonly failures: number;
  readonly expiresAt: Date | null;
  /** Its holds and codes have expired. */
  readonly isExpired: boolean;
  /** Seconds since the EHR was first called (`age`) and last called (`silence`). */
  readonly age: number;
  readonly silence: number;
}

/** The columns of `OperationRow`, in SQL over `operations`. */
export const storedColumns = sql`
  operations.id, operations.client_id, operations.emr, operations.care_unit_id, operations.idempotency_key_hash, operations.kind,
  operations.state, operations.sealed_plan, operations.sealed_response, operations.attempt, operations.consecutive_failures,
  operations.last_failure,
  operations.reported_unknown, operations.had_effect, operations.expires_at,
  coalesce(operations.expires_at <= now(), false) AS is_expired,
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
  readonly had_effect: boolean;
  readonly expires_at: Date | null;
  readonly is_expired: boolean;
  readonly age: number;
  readonly silence: number;
}

/** @throws Error when the plan was encrypted with an unknown secret key */
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
    hasResponse: row.sealed_response !== null,
    reportedUnknown: row.reported_unknown,
    hadEffect: row.had_effect,
    failures: row.consecutive_failures,
    expiresAt: row.expires_at,
    isExpired: row.is_expired,
    age: row.age,
    silence: row.silence,
  };
}

const dates = new Set(['requestedAt', 'start', 'end', 'heldUntil', 'holdUntil', 'expiresAt']);

export function openPlan(keys: KeyRing, clientId: string, id: string, sealed: Buffer): unknown {
  const text = keys.open('write', sealed, planContext({ clientId, id }));
  if (text === undefined) throw new Error('A stored plan cannot be decrypted: its secret key is unknown');
  return JSON.parse(text, (key, value) => (dates.has(key) && typeof value === 'string' ? new Date(value) : value));
}

export function sealPlan(keys: KeyRing, operation: Pick<Leased, 'clientId' | 'id'>, plan: unknown): Buffer {
  return keys.seal('write', JSON.stringify(plan), planContext(operation));
}

function planContext({ clientId, id }: Pick<Leased, 'clientId' | 'id'>): string {
  return `write ${clientId} ${id}`;
}
