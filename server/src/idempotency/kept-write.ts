import type { Tx } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';

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

/** Stores the answer under the key, in the transaction that makes it true. */
export async function completeKey(tx: Tx, write: KeptWrite, answer: Answer): Promise<Answer> {
  const { key, clientId } = write;
  if (!key) return answer;
  await tx
    .updateTable('idempotency_keys')
    .set({
      state: 'done',
      sealed_answer: key.keys.seal('idempotency', JSON.stringify({ answer }), keyContext(clientId, key.hash)),
    })
    .where('client_id', '=', clientId)
    .where('key_hash', '=', key.hash)
    .where('owner', '=', key.owner)
    .execute();
  key.isDone = true;
  return answer;
}

/** What a kept answer is bound to. */
export function keyContext(clientId: string, keyHash: Buffer): string {
  return `key ${clientId} ${keyHash.toString('hex')}`;
}
