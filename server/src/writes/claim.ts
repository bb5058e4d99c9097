import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { releaseLease } from '../db/write-lease.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import { reasons } from '../problems/reasons.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { sinceBoot } from '../time/since-boot.ts';
import { insertWrite, type Planned, storePlan } from './store-plan.ts';
import type { Leased, Stored, StoredRow, UnclaimedKey } from './stored-write.ts';
import { keyLifetime, openOutcome, openStored, unreadable } from './stored-write.ts';
import type { WriteResponse, WriteServices } from './write-kind.ts';

type Services = Pick<WriteServices, 'db' | 'keys' | 'liveTokens'>;

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

/** Who writes where. `keyed`: `undefined` without an `Idempotency-Key`. */
type About = Pick<Leased, 'clientId' | 'emr' | 'careUnitId' | 'requestId'> & {
  readonly keyed: KeyAndContent | undefined;
};

export type Claim =
  /** The plan is stored, `leasedAt` by `sinceBoot`. `expiresAt`: when its holds and codes expire. */
  | { readonly state: 'new'; readonly expiresAt: Date | null; readonly leasedAt: number }
  /** An earlier request started the write. This one has taken over its lease. */
  | { readonly state: 'interrupted'; readonly leased: Stored; readonly leasedAt: number }
  | Answered;

/**
 * An earlier request with the key has ended with this outcome, or is at work (`idempotency_in_progress`), or was another
 * request (`idempotency_key_reused`).
 */
export interface Answered {
  readonly state: 'answered';
  readonly outcome: WriteResponse | Problem;
}

/** The write of a request, which has no row yet. */
export async function newWrite({ db, keys }: Services, { keyed, ...about }: About): Promise<Leased> {
  const write = { ...about, id: randomUUID(), token: randomUUID(), attempt: 0 };
  if (!keyed) return { ...write, keyHash: null };
  const keyHashes = keys.hashes('idempotency-key', keyed.key);
  // The hash depends on the secret key. Usually there is only one secret key, and no look-up is needed.
  const keyHash = keyHashes.length > 1 ? await findKeyHash(db, about.clientId, keyHashes) : keyHashes[0];
  const requestHashes = keyed.fingerprints.flatMap((it) => keys.hashes('request', it));
  return { ...write, keyHash, claims: { requestHashes, isCondition: keyed.isCondition ?? false } };
}

/**
 * Stores the plan under a lease, and by the same statement claims the key, if the write has one to claim: afterwards the EHR can
 * be called.
 *
 * @param leasedAt when the transaction was requested, by `sinceBoot`
 * @throws LeaseLost
 */
export async function claimKey(
  db: Db | Tx,
  { keys, liveTokens }: Pick<Services, 'keys' | 'liveTokens'>,
  leased: Leased,
  planned: Planned,
  leasedAt = sinceBoot(),
): Promise<Claim> {
  const beginning = { ...leased, ...planned };
  const { claims } = leased;
  if (!claims) return { state: 'new', expiresAt: await storePlan(db, beginning), leasedAt };
  for (let round = 0; round < 3; round++) {
    // The new row, the row of an interrupted request with the key, or none: the key is in use or has its answer.
    const row = await insertWrite(db, beginning);
    if (row?.id === leased.id) return { state: 'new', expiresAt: row.expiresAt, leasedAt };
    if (row) return { state: 'interrupted', leased: await openOrRelease(db, keys, row), leasedAt };
    const known = await readKey(db, leased);
    if (!known) continue;
    const answer = answerOf(keys, leased, claims, known);
    if (answer !== 'free')
      return answer ?? answered(inProgress(liveTokens.has(known.lease_token ?? '') ? 1 : known.lease_rest));
    await freeKey(db, known);
  }
  return answered(inProgress());
}

/** The outcome of an earlier request with the key, without claiming it. `undefined`: there is none yet. */
export async function answerOfKey({ db, keys }: Services, leased: Leased): Promise<Answered | undefined> {
  const { claims } = leased;
  const known = claims && (await readKey(db, leased));
  const answer = known && answerOf(keys, leased, claims, known);
  return answer === 'free' ? undefined : answer;
}

/** @param retryAfterSeconds the rest of the lease, if another process holds it */
export function inProgress(retryAfterSeconds = 1): Problem {
  return new Problem('idempotency_in_progress', { headers: { 'retry-after': String(Math.max(retryAfterSeconds, 1)) } });
}

async function openOrRelease(db: Db | Tx, keys: KeyRing, row: StoredRow): Promise<Stored> {
  try {
    return openStored(keys, row);
  } catch (error) {
    await releaseLease(db, row).catch(() => undefined);
    throw unreadable(error);
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

function readKey(db: Db | Tx, { clientId, keyHash }: Leased) {
  return db
    .selectFrom('operations')
    .select(['id', 'lease_token', 'request_hash', 'sealed_response', 'idempotency_key_hash'])
    .select(sql<number>`ceil(extract(epoch FROM coalesce(lease_expires_at, now()) - now()))::int`.as('lease_rest'))
    .select(sql<boolean>`created_at <= now() - ${keyLifetime}`.as('is_old'))
    .where('client_id', '=', clientId)
    .where('idempotency_key_hash', '=', keyHash)
    .executeTakeFirst();
}

type KnownKey = NonNullable<Awaited<ReturnType<typeof readKey>>>;

/**
 * What the row of an earlier request with the key says. `undefined`: that request has not ended. `free`: the key is a day old, or
 * is one that only a success uses up and the request was refused. A success keeps such a key while its row is kept.
 */
function answerOf(
  keys: KeyRing,
  leased: Leased,
  { requestHashes, isCondition }: UnclaimedKey,
  { is_old, request_hash, sealed_response }: KnownKey,
): Answered | 'free' | undefined {
  const outcome = sealed_response && (isCondition || !is_old) ? openOutcome(keys, leased, sealed_response) : undefined;
  // What exists answers for what it names, whatever else was sent. Until its end, whether it exists is not known. Both at any age.
  if (isCondition && !(outcome instanceof Problem)) return outcome && answered(outcome);
  // Of what the EHR did after another problem, nothing is known.
  if (is_old || (isCondition && outcome instanceof Problem && outcome.status < 500)) return 'free';
  if (!requestHashes.some((hash) => request_hash?.equals(hash))) {
    const reason = 'idempotency_key_reused';
    return answered(problemAt({ in: 'header', header: 'idempotency-key' }, reason, reasons[reason].happened));
  }
  return outcome && answered(outcome);
}

/**
 * A write that has not ended continues without its key. It keeps its response for a day: if it is still monitored, an effect
 * of it is undone.
 */
async function freeKey(db: Db | Tx, { id, idempotency_key_hash, is_old }: KnownKey): Promise<void> {
  await db
    .updateTable('operations')
    .set({ idempotency_key_hash: null, request_hash: null, ...(is_old ? { sealed_response: null } : {}) })
    .where('id', '=', id)
    .where('idempotency_key_hash', '=', idempotency_key_hash)
    .execute();
}

function answered(outcome: WriteResponse | Problem): Answered {
  return { state: 'answered', outcome };
}
