import type { Tx } from '../db/kysely.ts';
import { type KeptProblem, keptProblem, Problem } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { packed } from './kept-text.ts';

export interface Answer {
  readonly body: object;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A write and the key, if any, that its answer is kept under. */
export interface KeptWrite {
  readonly operationId: string;
  readonly clientId: string;
  readonly key: ClaimedKey | undefined;
}

export interface ClaimedKey {
  readonly hash: Buffer;
  readonly owner: string;
  readonly keys: KeyRing;
  /** Set once the answer is stored. */
  isDone: boolean;
}

/**
 * Stores the answer under the key, in the transaction that makes it true.
 *
 * @throws Problem `idempotency_in_progress` when another process has taken the key over and will answer in our stead
 */
export async function completeKey(tx: Tx, write: KeptWrite, answer: Answer): Promise<Answer> {
  const { key, clientId } = write;
  if (!key) return answer;
  const { numUpdatedRows } = await tx
    .updateTable('idempotency_keys')
    .set({
      state: 'done',
      sealed_answer: key.keys.seal('idempotency', packed({ answer }), keyContext(clientId, key.hash)),
    })
    .where('client_id', '=', clientId)
    .where('key_hash', '=', key.hash)
    .where('operation_id', '=', write.operationId)
    .where('owner', '=', key.owner)
    .executeTakeFirst();
  if (numUpdatedRows === 0n && (await isTakenOver(tx, write, key.hash))) throw new Problem('idempotency_in_progress');
  key.isDone = true;
  return answer;
}

/** Stores a failure as the last word on the write, in the transaction that makes it so. */
export async function completeWithProblem(tx: Tx, write: KeptWrite, problem: Problem): Promise<void> {
  const { key, clientId, operationId } = write;
  if (!key) return;
  await tx
    .updateTable('idempotency_keys')
    .set({ state: 'done', sealed_answer: sealedProblem(clientId, key, keptProblem(problem)) })
    .where('client_id', '=', clientId)
    .where('key_hash', '=', key.hash)
    .where('operation_id', '=', operationId)
    .execute();
  key.isDone = true;
}

export function sealedProblem(clientId: string, { hash, keys }: ClaimedKey, problem: KeptProblem): Buffer {
  return keys.seal('idempotency', packed({ problem }), keyContext(clientId, hash));
}

/** A key that is not there any more is nobody's. */
async function isTakenOver(tx: Tx, { operationId, clientId }: KeptWrite, keyHash: Buffer): Promise<boolean> {
  const open = await tx
    .selectFrom('idempotency_keys')
    .select('owner')
    .where('client_id', '=', clientId)
    .where('key_hash', '=', keyHash)
    .where('operation_id', '=', operationId)
    .where('state', '<>', 'done')
    .execute();
  return open.length > 0;
}

/** From now on the key stands for another operation: the EHR must not take a retry for what it knows already. */
export async function renameOperation(
  tx: Tx,
  {
    key,
    clientId,
    operationId,
  }: Pick<KeptWrite, 'clientId' | 'operationId'> & { readonly key: Pick<ClaimedKey, 'hash'> | undefined },
  newId: string,
): Promise<void> {
  if (!key) return;
  await tx
    .updateTable('idempotency_keys')
    .set({ operation_id: newId })
    .where('client_id', '=', clientId)
    .where('key_hash', '=', key.hash)
    .where('operation_id', '=', operationId)
    .execute();
}

/** What a kept answer is bound to. */
export function keyContext(clientId: string, keyHash: Buffer): string {
  return `key ${clientId} ${keyHash.toString('hex')}`;
}
