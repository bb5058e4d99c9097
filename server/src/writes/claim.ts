import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { releaseLease } from '../db/write-lease.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import { reasons } from '../problems/reasons.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { sinceBoot } from '../time/since-boot.ts';
import { insertWrite, keyLifetime, type Planned } from './store-plan.ts';
import { type Leased, openOutcome, openStored, type Stored, type StoredRow, storedColumns } from './stored-write.ts';
import type { WriteResponse, WriteServices } from './write-kind.ts';

type Services = Pick<WriteServices, 'db' | 'keys' | 'liveTokens'>;

/** The `Idempotency-Key` of a request that is not claimed yet, with the write that would claim it. */
export interface Key {
  readonly leased: Leased & { readonly keyHash: Buffer };
  /** Of each fingerprint, under each secret key. The first one is stored. */
  readonly requestHashes: readonly [Buffer, ...Buffer[]];
  readonly isCondition: boolean;
}

/** An `Idempotency-Key`, and what was sent with it. */
export interface KeyAndContent {
  readonly key: string;
  /**
   * Each identifies the content of the request: the first one as it is stored now, the others as earlier versions did. Hashed
   * here and never stored in plain text.
   */
  readonly fingerprints: readonly [string, ...string[]];
  /** What may exist once, such as an identifier. A refusal leaves it free: the next request with it runs, whatever its content. */
  readonly isCondition?: boolean;
}

type KeyRequest = KeyAndContent & Pick<Leased, 'clientId' | 'emr' | 'careUnitId'>;

export type Claim =
  /** `expiresAt`: when the holds and codes of its plan expire. */
  | { readonly state: 'new'; readonly expiresAt: Date | null }
  /** An earlier request started the write. This one has taken over its lease, at `leasedAt` by `sinceBoot`. */
  | { readonly state: 'interrupted'; readonly leased: Stored; readonly leasedAt: number }
  | Answered;

/**
 * An earlier request with the key has ended with this outcome, or is at work (`idempotency_in_progress`), or was another
 * request (`idempotency_key_reused`).
 */
interface Answered {
  readonly state: 'answered';
  readonly outcome: WriteResponse | Problem;
}

export async function openKey(
  { db, keys }: Services,
  { key, fingerprints, isCondition = false, ...place }: KeyRequest,
): Promise<Key> {
  const keyHashes = keys.hashes('idempotency-key', key);
  // The hash depends on the secret key. Usually there is only one secret key, and no look-up is needed.
  const keyHash = keyHashes.length > 1 ? await findKeyHash(db, place.clientId, keyHashes) : keyHashes[0];
  return {
    leased: { ...place, id: randomUUID(), token: randomUUID(), keyHash, attempt: 0 },
    requestHashes: [
      ...keys.hashes('request', fingerprints[0]),
      ...fingerprints.slice(1).flatMap((it) => keys.hashes('request', it)),
    ],
    isCondition,
  };
}

/** Claims the key for `leaseSeconds`, and stores the plan by the same statement: afterwards the EHR can be called. */
export async function claimKey(
  db: Db | Tx,
  { keys, liveTokens }: Pick<Services, 'keys' | 'liveTokens'>,
  key: Key,
  planned: Planned,
  leaseSeconds: number,
): Promise<Claim> {
  const { leased, requestHashes } = key;
  for (let round = 0; round < 3; round++) {
    const leasedAt = sinceBoot();
    // The new row, the row of an interrupted request with the key, or none: the key is in use or has its answer.
    const row = await insertWrite(db, { ...leased, ...planned, leaseSeconds }, requestHashes);
    if (row?.id === leased.id) return { state: 'new', expiresAt: row.expiresAt };
    if (row) return { state: 'interrupted', leased: await takeOver(db, keys, leased, row.id), leasedAt };
    const known = await readKey(db, leased);
    if (known && isFree(keys, key, known)) await freeKey(db, leased, known);
    else if (known) {
      const isHere = liveTokens.has(known.lease_token ?? '');
      return answerOf(keys, key, known) ?? answered(inProgress(isHere ? 1 : known.lease_rest));
    }
  }
  return answered(inProgress());
}

/** The outcome of an earlier request with the key, without claiming it. `undefined`: there is none yet. */
export async function answerOfKey({ db, keys }: Services, key: Key): Promise<Answered | undefined> {
  const known = await readKey(db, key.leased);
  return known && !isFree(keys, key, known) ? answerOf(keys, key, known) : undefined;
}

/** @param retryAfterSeconds the rest of the lease, if another process holds it */
export function inProgress(retryAfterSeconds = 1): Problem {
  return new Problem('idempotency_in_progress', { headers: { 'retry-after': String(Math.max(retryAfterSeconds, 1)) } });
}

/** Reads a write whose lease this request has taken, or gives the lease back. */
async function takeOver(db: Db | Tx, keys: KeyRing, by: Leased, id: string): Promise<Stored> {
  try {
    const { rows } = await sql<StoredRow>`
      SELECT ${storedColumns} FROM operations WHERE id = ${id} AND lease_token = ${by.token}`.execute(db);
    const [row] = rows;
    if (!row) throw inProgress();
    return openStored(keys, row);
  } catch (error) {
    await releaseLease(db, { ...by, id }).catch(() => undefined);
    throw error;
  }
}

async function findKeyHash(db: Db, clientId: string, hashes: readonly [Buffer, ...Buffer[]]): Promise<Buffer> {
  const row = await db
    .selectFrom('operations')
    .select('idempotency_key_hash')
    .where('client_id', '=', clientId)
    .where('idempotency_key_hash', 'in', [...hashes])
    .executeTakeFirst();
  return row?.idempotency_key_hash ?? hashes[0];
}

function readKey(db: Db | Tx, { clientId, keyHash }: Key['leased']) {
  return db
    .selectFrom('operations')
    .select(['id', 'lease_token', 'request_hash', 'sealed_response'])
    .select(sql<number>`ceil(extract(epoch FROM coalesce(lease_expires_at, now()) - now()))::int`.as('lease_rest'))
    .select(sql<boolean>`created_at <= now() - ${keyLifetime}`.as('is_old'))
    .where('client_id', '=', clientId)
    .where('idempotency_key_hash', '=', keyHash)
    .executeTakeFirst();
}

type KnownKey = NonNullable<Awaited<ReturnType<typeof readKey>>>;

function answerOf(keys: KeyRing, { leased, requestHashes, isCondition }: Key, known: KnownKey): Answered | undefined {
  const { request_hash, sealed_response } = known;
  // Whether it is used up is not known yet.
  if (isCondition && !sealed_response) return undefined;
  if (!requestHashes.some((hash) => request_hash?.equals(hash))) {
    const reason = 'idempotency_key_reused';
    return answered(problemAt({ in: 'header', header: 'idempotency-key' }, reason, reasons[reason].happened));
  }
  return sealed_response ? answered(openOutcome(keys, leased, sealed_response)) : undefined;
}

/** Whether the key is a day old, or is one that only a success uses up and the earlier request was refused. */
function isFree(keys: KeyRing, { leased, isCondition }: Key, { is_old, sealed_response }: KnownKey): boolean {
  if (is_old) return true;
  if (!isCondition || !sealed_response) return false;
  const outcome = openOutcome(keys, leased, sealed_response);
  // Of what the EHR did after another problem, nothing is known.
  return outcome instanceof Problem && outcome.status < 500;
}

/**
 * A write that has not ended continues without its key. It keeps its response for a day: if it is still monitored, an effect
 * of it is undone.
 */
async function freeKey(db: Db | Tx, { clientId, keyHash }: Key['leased'], { id, is_old }: KnownKey): Promise<void> {
  await db
    .updateTable('operations')
    .set({ idempotency_key_hash: null, request_hash: null, ...(is_old ? { sealed_response: null } : {}) })
    .where('id', '=', id)
    .where('client_id', '=', clientId)
    .where('idempotency_key_hash', '=', keyHash)
    .execute();
}

function answered(outcome: WriteResponse | Problem): Answered {
  return { state: 'answered', outcome };
}
