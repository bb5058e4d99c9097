import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { type KeptProblem, Problem, problemFromKept } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { compressJson, decompressJson } from './compressed-json.ts';
import { leaseEnd } from './lease.ts';
import type { OperationResponse } from './operation-response.ts';
import { type Leased, type OperationRow, openStored, type Stored, storedColumns } from './stored-operation.ts';

const keyLifetime = sql`interval '24 hours'`;

export interface KeyRequest {
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly key: string;
  /** Identifies the content of the request. Hashed here and never stored in plain text. */
  readonly fingerprint: string;
  readonly leaseSeconds: number;
}

export type Claim =
  | { readonly kind: 'new'; readonly operation: Leased }
  /** An earlier request with the key started the operation, and no process holds its lease. */
  | { readonly kind: 'interrupted'; readonly operation: Stored }
  | { readonly kind: 'replay'; readonly response: OperationResponse };

/**
 * Claims the key in one statement, or returns the stored response of the first request.
 *
 * @throws Problem `idempotency_key_reused`, `idempotency_in_progress`, or the stored problem of the first request
 */
export async function claimKey(db: Db, keys: KeyRing, request: KeyRequest): Promise<Claim> {
  const requestHashes = keys.hashes('request', request.fingerprint);
  const keyHashes = keys.hashes('idempotency-key', request.key);
  // The hash depends on the secret key. Usually there is only one secret key, and no look-up is needed.
  const keyHash = keyHashes.length > 1 ? await findKeyHash(db, request.clientId, keyHashes) : keyHashes[0];
  const token = randomUUID();
  const id = randomUUID();
  const lease = leaseEnd(request.leaseSeconds);
  for (let round = 0; round < 3; round++) {
    const { rows } = await sql<OperationRow>`
      WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
      INSERT INTO operations (id, client_id, idempotency_key_hash, request_hash, emr, care_unit_id, lease_token, lease_expires_at)
      SELECT ${id}::uuid, ${request.clientId}::text, ${keyHash}::bytea, ${requestHashes[0]}::bytea, ${request.emr}::text,
        ${request.careUnitId}::text, ${token}::uuid, ${lease} FROM relaxed
      ON CONFLICT (client_id, idempotency_key_hash) DO UPDATE SET
        lease_token = EXCLUDED.lease_token, lease_expires_at = EXCLUDED.lease_expires_at,
        next_attempt_at = CASE WHEN operations.next_attempt_at IS NOT NULL THEN EXCLUDED.lease_expires_at END
      WHERE operations.sealed_response IS NULL AND operations.request_hash IN (${sql.join(requestHashes)})
        AND (operations.lease_expires_at IS NULL OR operations.lease_expires_at <= now())
        AND operations.created_at > now() - ${keyLifetime}
      RETURNING ${storedColumns}`.execute(db);
    const [row] = rows;
    if (row?.id === id) return { kind: 'new', operation: openStored(keys, token, row) };
    if (row) return { kind: 'interrupted', operation: openStored(keys, token, row) };
    const known = await readKey(db, request.clientId, keyHash);
    if (!known) continue;
    if (known.is_old) {
      await expireKey(db, request.clientId, keyHash);
      continue;
    }
    if (!requestHashes.some((hash) => known.request_hash?.equals(hash))) throw new Problem('idempotency_key_reused');
    if (known.sealed_response) return replay(keys, request.clientId, keyHash, known.sealed_response);
    break;
  }
  throw inProgress();
}

export function inProgress(detail?: string): Problem {
  return new Problem('idempotency_in_progress', { detail, headers: { 'retry-after': '1' } });
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
    .select(['request_hash', 'sealed_response'])
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

function replay(keys: KeyRing, clientId: string, keyHash: Buffer, sealed: Buffer): Claim {
  const text = keys.open('idempotency', sealed, keyContext(clientId, keyHash));
  if (!text) throw new Error('A stored response cannot be decrypted: its secret key is unknown');
  const kept = decompressJson(text) as Kept;
  if ('problem' in kept) throw problemFromKept(kept.problem);
  const headers = { ...kept.response.headers, 'idempotency-replayed': 'true' };
  return { kind: 'replay', response: { ...kept.response, headers } };
}

/** The encryption context of a stored response. */
function keyContext(clientId: string, keyHash: Buffer): string {
  return `key ${clientId} ${keyHash.toString('hex')}`;
}
