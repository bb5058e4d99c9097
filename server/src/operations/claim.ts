import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { type KeptProblem, Problem, problemAt, problemFromKept } from '../problems/problem.ts';
import { reasons } from '../problems/reasons.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { claimOnly, claimWithPlan, keyLifetime } from './claim-statements.ts';
import { compressJson, decompressJson } from './compressed-json.ts';
import { releaseLease } from './lease.ts';
import type { OperationResponse } from './operation-response.ts';
import type { OperationServices } from './services.ts';
import { type Planned, plannedInput } from './store-plan.ts';
import { type Leased, type OperationRow, openStored, type Stored, storedColumns } from './stored-operation.ts';

export interface KeyRequest {
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly key: string;
  /** Identifies the content of the request. Hashed here and never stored in plain text. */
  readonly fingerprint: string;
}

/** An operation that is not stored yet, and what its key and request are known by. */
export interface Unclaimed {
  readonly operation: Leased & { readonly keyHash: Buffer };
  readonly requestHashes: readonly [Buffer, ...Buffer[]];
}

export type Claim =
  /** `expiresAt`: when the holds and codes of its plan expire. */
  | { readonly kind: 'new'; readonly expiresAt: Date | null }
  /** An earlier request with the key started the operation, and no process holds its lease. */
  | { readonly kind: 'interrupted'; readonly operation: Stored }
  | { readonly kind: 'replay'; readonly response: OperationResponse };

export async function newKeyedOperation(db: Db, keys: KeyRing, request: KeyRequest): Promise<Unclaimed> {
  const { clientId, emr, careUnitId } = request;
  const keyHashes = keys.hashes('idempotency-key', request.key);
  // The hash depends on the secret key. Usually there is only one secret key, and no look-up is needed.
  const keyHash = keyHashes.length > 1 ? await findKeyHash(db, clientId, keyHashes) : keyHashes[0];
  return {
    operation: { id: randomUUID(), token: randomUUID(), clientId, emr, careUnitId, keyHash, attempt: 0 },
    requestHashes: keys.hashes('request', request.fingerprint),
  };
}

/**
 * Claims the key in one statement, or returns the stored response of the first request. With `planned`, the same statement
 * stores the plan, and the EHR can be called.
 *
 * @throws Problem `idempotency_key_reused`, `idempotency_in_progress`, or the stored problem of the first request
 */
export async function claimKey(
  db: Db,
  { keys, running }: Pick<OperationServices, 'keys' | 'running'>,
  { operation, requestHashes }: Unclaimed,
  leaseSeconds: number,
  planned?: Planned,
): Promise<Claim> {
  const { clientId, keyHash, id } = operation;
  const input = { ...operation, requestHash: requestHashes[0], requestHashes, leaseSeconds };
  for (let round = 0; round < 3; round++) {
    const row = await (planned ? claimWithPlan(db, { ...input, ...plannedInput(planned) }) : claimOnly(db, input));
    if (row?.id === id) return { kind: 'new', expiresAt: row.expires_at };
    if (row) return { kind: 'interrupted', operation: await takeOver(db, keys, { ...operation, id: row.id }) };
    const known = await readKey(db, clientId, keyHash);
    if (!known) continue;
    if (known.is_old) {
      await expireKey(db, clientId, keyHash);
      continue;
    }
    const response = storedResponse(keys, { operation, requestHashes }, known);
    if (response) return { kind: 'replay', response };
    throw inProgress(running.has(known.id) ? 1 : known.lease_rest);
  }
  throw inProgress();
}

/** Runs an operation. Meanwhile, requests with its key are told to come back soon, not at the end of its lease. */
export async function whileRunning<Result>(
  { running }: Pick<OperationServices, 'running'>,
  { id }: Leased,
  run: () => Promise<Result>,
): Promise<Result> {
  running.add(id);
  try {
    return await run();
  } finally {
    running.delete(id);
  }
}

/**
 * Finds the stored response of an earlier request with the key, without claiming the key.
 *
 * @throws Problem `idempotency_key_reused`, or the stored problem of the first request
 */
export async function findStored(db: Db, keys: KeyRing, unclaimed: Unclaimed): Promise<OperationResponse | undefined> {
  const { clientId, keyHash } = unclaimed.operation;
  const known = await readKey(db, clientId, keyHash);
  return known && !known.is_old ? storedResponse(keys, unclaimed, known) : undefined;
}

/** Reads an operation whose lease this request has taken, or gives the lease back. */
async function takeOver(db: Db, keys: KeyRing, operation: Leased): Promise<Stored> {
  try {
    return await readLeased(db, keys, operation);
  } catch (error) {
    await releaseLease(db, operation).catch(() => undefined);
    throw error;
  }
}

async function readLeased(db: Db, keys: KeyRing, { id, token }: Pick<Leased, 'id' | 'token'>): Promise<Stored> {
  const { rows } = await sql<OperationRow>`
    SELECT ${storedColumns} FROM operations WHERE id = ${id} AND lease_token = ${token}`.execute(db);
  const [row] = rows;
  if (!row) throw inProgress();
  return openStored(keys, token, row);
}

function keyReused(): Problem {
  const reason = 'idempotency_key_reused';
  return problemAt({ in: 'header', header: 'idempotency-key' }, reason, reasons[reason].happened);
}

/** @param retryAfterSeconds the rest of the lease, if another process holds it */
export function inProgress(retryAfterSeconds = 1): Problem {
  return new Problem('idempotency_in_progress', { headers: { 'retry-after': String(Math.max(retryAfterSeconds, 1)) } });
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

function readKey(db: Db, clientId: string, keyHash: Buffer) {
  return db
    .selectFrom('operations')
    .select(['id', 'request_hash', 'sealed_response'])
    .select(sql<number>`ceil(extract(epoch FROM coalesce(lease_expires_at, now()) - now()))::int`.as('lease_rest'))
    .select(sql<boolean>`created_at <= now() - ${keyLifetime}`.as('is_old'))
    .where('client_id', '=', clientId)
    .where('idempotency_key_hash', '=', keyHash)
    .executeTakeFirst();
}

/** The key expires after a day. An operation that has not ended continues without it. */
async function expireKey(db: Db, clientId: string, keyHash: Buffer): Promise<void> {
  await db
    .updateTable('operations')
    .set({ idempotency_key_hash: null, request_hash: null, sealed_response: null })
    .where('client_id', '=', clientId)
    .where('idempotency_key_hash', '=', keyHash)
    .where(sql<boolean>`created_at <= now() - ${keyLifetime}`)
    .execute();
}

type Kept = { readonly response: OperationResponse } | { readonly problem: KeptProblem };

export function sealStored(keys: KeyRing, clientId: string, keyHash: Buffer, kept: Kept): Buffer {
  return keys.seal('idempotency', compressJson(kept), keyContext(clientId, keyHash));
}

interface KnownKey {
  readonly request_hash: Buffer | null;
  readonly sealed_response: Buffer | null;
}

function storedResponse(
  keys: KeyRing,
  { operation: { clientId, keyHash }, requestHashes }: Unclaimed,
  { request_hash, sealed_response }: KnownKey,
): OperationResponse | undefined {
  if (!requestHashes.some((hash) => request_hash?.equals(hash))) throw keyReused();
  if (!sealed_response) return undefined;
  const text = keys.open('idempotency', sealed_response, keyContext(clientId, keyHash));
  if (!text) throw new Error('A stored response cannot be decrypted: its secret key is unknown');
  const kept = decompressJson(text) as Kept;
  if ('problem' in kept) throw problemFromKept(kept.problem);
  return { ...kept.response, headers: { ...kept.response.headers, 'idempotency-replayed': 'true' } };
}

/** The encryption context of a stored response. */
function keyContext(clientId: string, keyHash: Buffer): string {
  return `key ${clientId} ${keyHash.toString('hex')}`;
}
