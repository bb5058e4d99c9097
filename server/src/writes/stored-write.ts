import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { type KeptProblem, keptProblem, Problem, problemFromKept } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { WriteResponse } from './write-kind.ts';

/** A write whose lease this process holds. */
export interface Leased {
  readonly id: string;
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  /** Null without an idempotency key. */
  readonly keyHash: Buffer | null;
  readonly token: string;
  readonly attempt: number;
  /** The EHR was called for this attempt before, without effect so far. The plan is still stored and monitored. */
  readonly isMonitored?: boolean;
  /** A retry with its key gets a stored response. */
  readonly hasResponse?: boolean;
  /** Id of the current request. A stored problem repeats it. */
  readonly requestId?: string;
  /** The key that it has yet to claim. */
  readonly claims?: UnclaimedKey;
}

/** The `Idempotency-Key` of a request whose write has no row yet. */
export interface UnclaimedKey {
  /** Of each fingerprint, under each secret key. The first one is stored. */
  readonly requestHashes: readonly Buffer[];
  readonly isCondition: boolean;
}

/** A write as read from the database. */
export interface StoredRow extends Leased {
  readonly kind: string | null;
  readonly state: 'pending' | 'compensating' | 'done';
  readonly sealedPlan: Buffer | null;
  readonly hasResponse: boolean;
  readonly reportedUnknown: boolean;
  /** It ended with effect. It is monitored because the EHR may make its changes a second time. */
  readonly hadEffect: boolean;
  readonly failures: number;
  readonly lastFailure: string | null;
  readonly expiresAt: Date | null;
  /** Its holds and codes have expired. */
  readonly isExpired: boolean;
  /** When its plan was stored, just before the first call to the EHR. Null: it is to be planned again. */
  readonly firstSentAt: Date | null;
  readonly secondsSinceFirstCall: number;
  readonly secondsSinceLastCall: number;
}

/** The columns of a `StoredRow`, in SQL over `operations`. */
export const storedColumns = sql`
  operations.id, operations.client_id AS "clientId", operations.emr, operations.care_unit_id AS "careUnitId",
  operations.idempotency_key_hash AS "keyHash", operations.lease_token AS token, operations.attempt, operations.kind,
  operations.state, operations.sealed_plan AS "sealedPlan", operations.sealed_response IS NOT NULL AS "hasResponse",
  operations.reported_unknown AS "reportedUnknown", operations.had_effect AS "hadEffect",
  operations.consecutive_failures AS failures, operations.last_failure AS "lastFailure",
  operations.expires_at AS "expiresAt", coalesce(operations.expires_at <= now(), false) AS "isExpired",
  operations.first_sent_at AS "firstSentAt",
  coalesce(extract(epoch FROM now() - operations.first_sent_at), 0)::float8 AS "secondsSinceFirstCall",
  coalesce(extract(epoch FROM now() - operations.last_sent_at), 0)::float8 AS "secondsSinceLastCall"`;

export interface Stored extends StoredRow {
  /** `undefined`: it has not been planned, or its plan is no longer needed. */
  readonly plan: unknown;
}

/** @throws Error when the plan was encrypted with an unknown secret key */
export function openStored(keys: KeyRing, row: StoredRow): Stored {
  return { ...row, plan: row.sealedPlan ? openPlan(keys, row.clientId, row.id, row.sealedPlan) : undefined };
}

const dates = new Set(['requestedAt', 'start', 'end', 'heldUntil', 'holdUntil', 'expiresAt']);

export function openPlan(keys: KeyRing, clientId: string, id: string, sealed: Buffer): unknown {
  const text = keys.open('write', sealed, planContext({ clientId, id }));
  if (text === undefined) throw new Error('A stored plan cannot be decrypted: its secret key is unknown');
  return JSON.parse(text, (key, value) => (dates.has(key) && typeof value === 'string' ? new Date(value) : value));
}

export function sealPlan(keys: KeyRing, leased: Pick<Leased, 'clientId' | 'id'>, plan: unknown): Buffer {
  return keys.seal('write', JSON.stringify(plan), planContext(leased));
}

const planContext = ({ clientId, id }: Pick<Leased, 'clientId' | 'id'>) => `write ${clientId} ${id}`;

/** What is stored under an `Idempotency-Key`, encrypted. */
type Kept = { readonly response: WriteResponse } | { readonly problem: KeptProblem };
type Keyed = Pick<Leased, 'clientId' | 'keyHash'> & { readonly requestId?: string | undefined };

/** Null without an idempotency key. A problem repeats the id of the request. */
export function sealOutcome(keys: KeyRing, leased: Keyed, outcome: WriteResponse | Problem): Buffer | null {
  if (!leased.keyHash) return null;
  const kept: Kept =
    outcome instanceof Problem ? { problem: keptProblem(outcome, leased.requestId) } : { response: outcome };
  return keys.seal('idempotency', compressJson(kept), outcomeContext(leased));
}

/** `unreadable` if the outcome was encrypted with an unknown secret key. */
export function openOutcome(keys: KeyRing, leased: Keyed, sealed: Buffer): WriteResponse | Problem {
  const text = keys.open('idempotency', sealed, outcomeContext(leased));
  if (!text) return unreadable();
  const kept = decompressJson(text) as Kept;
  if ('problem' in kept) return problemFromKept(kept.problem);
  return { ...kept.response, headers: { ...kept.response.headers, 'idempotency-replayed': 'true' } };
}

/** 504 `outcome_unknown`: what is stored under the key would say what became of the write, and cannot be decrypted here. */
export function unreadable(cause?: unknown): Problem {
  return new Problem('outcome_unknown', {
    origin: 'gateway',
    retryable: false,
    detail: 'What is stored under this `Idempotency-Key` is encrypted with a secret key that this gateway lacks.',
    cause,
  });
}

const outcomeContext = ({ clientId, keyHash }: Keyed) => `key ${clientId} ${keyHash?.toString('hex')}`;

/**
 * Whether a problem is stored under the key. Problems that depend on the moment are not. After a failure, a retry must be
 * able to find out the outcome.
 */
export function isStoredUnderKey({ status, reason }: Problem): boolean {
  return status < 500 && status !== 429 && reason !== 'idempotency_in_progress';
}

/** Characters. Shorter texts are not worth compressing: one appointment has about 500. */
const longestPlain = 2048;
const deflatedMark = 'deflate:';

/**
 * JSON of a stored response, compressed if long. A hundred similar appointments shrink to a tenth.
 *
 * @internal for the test with any value
 */
export function compressJson(kept: object): string {
  const text = JSON.stringify(kept);
  // No JSON text begins with the mark.
  return text.length <= longestPlain ? text : deflatedMark + deflateRawSync(text).toString('base64');
}

/** @internal for the test with any value */
export function decompressJson(text: string): unknown {
  if (!text.startsWith(deflatedMark)) return JSON.parse(text);
  return JSON.parse(inflateRawSync(Buffer.from(text.slice(deflatedMark.length), 'base64')).toString('utf8'));
}

export const keyLifetime = sql`interval '24 hours'`;

/** Deletes writes a day after they were created, at most `limit`: until then their keys are valid. Open and suspended ones stay. */
export async function deleteOldWrites(db: Db, limit: number): Promise<void> {
  await sql`
    -- An array, because PostgreSQL would read the whole table to join a subquery.
    DELETE FROM operations WHERE id = ANY (ARRAY(
      SELECT id FROM operations
      WHERE created_at < now() - ${keyLifetime} AND (state = 'done' OR sealed_plan IS NULL)
        AND (lease_expires_at IS NULL OR lease_expires_at < now())
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`.execute(db);
}
