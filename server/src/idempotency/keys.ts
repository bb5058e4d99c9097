import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { type KeptProblem, keptProblem, Problem, problemFromKept } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type GatewayProcess, ownerIsAlive } from '../writes/gateway-process.ts';
import { unpacked } from './kept-text.ts';
import { type Answer, type ClaimedKey, keyContext, sealedProblem } from './kept-write.ts';

const keptFor = sql`interval '24 hours'`;

export interface KeyRequest {
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly key: string;
  /** What makes the request the same one: hashed here, kept nowhere in the clear. */
  readonly fingerprint: string;
}

export type Claim =
  | { readonly kind: 'new' | 'taken over'; readonly operationId: string; readonly key: ClaimedKey }
  | { readonly kind: 'replay'; readonly answer: Answer }
  | { readonly kind: 'replay'; readonly problem: Problem };

/**
 * Makes the key ours, or tells what the first request with it was answered.
 *
 * @throws Problem `idempotency_key_reused`, `idempotency_in_progress`
 */
export async function claimKey(db: Db, keys: KeyRing, process: GatewayProcess, request: KeyRequest): Promise<Claim> {
  const hashes = keys.hashes('idempotency-key', request.key);
  const fingerprints = keys.hashes('request', request.fingerprint);
  let reserved: Reservation = {};
  try {
    return await db.transaction().execute(async (tx) => {
      const hash = hashes[0];
      const known = (await findKey(tx, process, request.clientId, hashes)) ?? (await insertKey());
      if (typeof known === 'string') return { kind: 'new', operationId: known, key: claimed(hash) };
      if (!fingerprints.some((it) => it.equals(known.request_hash))) throw new Problem('idempotency_key_reused');
      if (known.state === 'done') return replay(keys, request.clientId, known);
      // Nothing is awaited between this look and the reservation.
      const name = keyContext(request.clientId, known.key_hash);
      if (known.is_running_elsewhere || process.active.has(known.operation_id) || process.activeKeys.has(name)) {
        throw inProgress();
      }
      reserve({ operationId: known.operation_id, key: name });
      await tx
        .updateTable('idempotency_keys')
        .set({ state: 'running', owner: process.id })
        .where('client_id', '=', request.clientId)
        .where('key_hash', '=', known.key_hash)
        .execute();
      return { kind: 'taken over', operationId: known.operation_id, key: claimed(known.key_hash) };

      function claimed(keyHash: Buffer): ClaimedKey {
        return { hash: keyHash, owner: process.id, keys, isDone: false };
      }

      async function insertKey() {
        const operationId = randomUUID();
        // Before the row is there for others to see: they take a key whose operation is not active for abandoned.
        reserve({ operationId });
        const inserted = await tx
          .insertInto('idempotency_keys')
          .values({
            client_id: request.clientId,
            key_hash: hash,
            request_hash: fingerprints[0],
            emr: request.emr,
            care_unit_id: request.careUnitId,
            operation_id: operationId,
            state: 'running',
            owner: process.id,
            sealed_answer: null,
          })
          .onConflict((conflict) => conflict.doNothing())
          .returning('operation_id')
          .executeTakeFirst();
        if (inserted) {
          reserve({ operationId, key: keyContext(request.clientId, hash) });
          return operationId;
        }
        release();
        const winner = await findKey(tx, process, request.clientId, hashes);
        if (!winner) throw inProgress();
        return winner;
      }
    });
  } catch (error) {
    release();
    throw error;
  }

  function reserve({ operationId, key }: Reservation): void {
    reserved = { operationId, key };
    if (operationId !== undefined) process.active.add(operationId);
    if (key !== undefined) process.activeKeys.add(key);
  }

  function release(): void {
    if (reserved.operationId !== undefined) process.active.delete(reserved.operationId);
    if (reserved.key !== undefined) process.activeKeys.delete(reserved.key);
    reserved = {};
  }
}

interface Reservation {
  readonly operationId?: string | undefined;
  readonly key?: string | undefined;
}

function inProgress(): Problem {
  return new Problem('idempotency_in_progress', { headers: { 'retry-after': '1' } });
}

async function findKey(tx: Tx, process: GatewayProcess, clientId: string, hashes: readonly Buffer[]) {
  await tx
    .deleteFrom('idempotency_keys')
    .where('client_id', '=', clientId)
    .where('key_hash', 'in', [...hashes])
    .where(sql<boolean>`created_at < clock_timestamp() - ${keptFor}`)
    .execute();
  const row = await tx
    .selectFrom('idempotency_keys')
    .select(['key_hash', 'request_hash', 'operation_id', 'state', 'owner', 'sealed_answer'])
    .select(ownerIsAlive.as('owner_is_alive'))
    .where('client_id', '=', clientId)
    .where('key_hash', 'in', [...hashes])
    .forUpdate()
    .executeTakeFirst();
  if (!row) return undefined;
  const isElsewhere = row.owner !== process.id && row.owner_is_alive;
  return { ...row, is_running_elsewhere: row.state === 'running' && isElsewhere };
}

function replay(keys: KeyRing, clientId: string, row: { key_hash: Buffer; sealed_answer: Buffer | null }): Claim {
  const text = row.sealed_answer && keys.open('idempotency', row.sealed_answer, keyContext(clientId, row.key_hash));
  if (!text) throw new Error('A kept answer cannot be opened: its secret key is not known');
  const kept = unpacked(text) as { answer: Answer } | { problem: KeptProblem };
  return 'answer' in kept
    ? { kind: 'replay', answer: kept.answer }
    : { kind: 'replay', problem: problemFromKept(kept.problem) };
}

/**
 * What becomes of a key whose request was refused. Final refusals are kept; those that depend on the moment leave no
 * trace; after a failure the key stays open, so that a retry finds out what happened.
 */
export async function settleKey(
  db: Db,
  clientId: string,
  key: ClaimedKey,
  error: unknown,
  requestId: string,
): Promise<void> {
  const mine = (table: 'idempotency_keys') =>
    db
      .updateTable(table)
      .where('client_id', '=', clientId)
      .where('key_hash', '=', key.hash)
      .where('owner', '=', key.owner)
      .where('state', '=', 'running');
  const problem = error instanceof Problem ? error : undefined;
  if (!problem || problem.status >= 500 || problem.reason === 'idempotency_in_progress') {
    await mine('idempotency_keys').set({ state: 'open' }).execute();
    return;
  }
  if (problem.status === 429) {
    await db
      .deleteFrom('idempotency_keys')
      .where('client_id', '=', clientId)
      .where('key_hash', '=', key.hash)
      .where('owner', '=', key.owner)
      .where('state', '=', 'running')
      .execute();
    return;
  }
  const sealed = sealedProblem(clientId, key, keptProblem(problem, requestId));
  await mine('idempotency_keys').set({ state: 'done', sealed_answer: sealed }).execute();
}

/** Opens keys of this process that no request is at any more, since what became of them could not be stored. */
export async function openLeftKeys(db: Db, process: GatewayProcess): Promise<void> {
  const running = await db
    .selectFrom('idempotency_keys')
    .select(['client_id', 'key_hash', 'operation_id'])
    .where('owner', '=', process.id)
    .where('state', '=', 'running')
    .execute();
  for (const { client_id, key_hash, operation_id } of running) {
    const name = keyContext(client_id, key_hash);
    if (process.activeKeys.has(name) || process.active.has(operation_id)) continue;
    process.activeKeys.add(name);
    try {
      await db
        .updateTable('idempotency_keys')
        .set({ state: 'open' })
        .where('client_id', '=', client_id)
        .where('key_hash', '=', key_hash)
        .where('owner', '=', process.id)
        .where('state', '=', 'running')
        .execute();
    } finally {
      process.activeKeys.delete(name);
    }
  }
}

/** Keys are honoured for a day. Deletes at most `limit`. */
export async function forgetOldKeys(db: Db, limit: number): Promise<void> {
  await sql`
    DELETE FROM idempotency_keys WHERE (client_id, key_hash) IN (
      SELECT client_id, key_hash FROM idempotency_keys
      WHERE created_at < clock_timestamp() - ${keptFor}
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`.execute(db);
}
