import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import type { AuditKey } from './audit-keys.ts';
import type { Head } from './chain.ts';

/** Rows of a chain up to this one were deleted at the end of their retention. */
interface Checkpoint extends Head {
  readonly chainId: string;
  readonly at: Date;
}

/** A keyed hash, so that nobody without the key can pass off a removal as a deletion. */
export function checkpointMac(key: AuditKey, { chainId, position, hash, at }: Checkpoint): Buffer {
  return key.sign(JSON.stringify(['checkpoint', chainId, position, hash.toString('hex'), at.getTime()]));
}

/** Keeps a checkpoint from which the rest of a chain is verified. A chain whose key is lost gets none. */
export async function storeCheckpoint(
  tx: Tx,
  keys: ReadonlyMap<string, AuditKey>,
  { chainId, position, hash }: Omit<Checkpoint, 'at'>,
): Promise<void> {
  const chain = await tx.selectFrom('audit_chains').select('key_id').where('id', '=', chainId).executeTakeFirst();
  const key = keys.get(chain?.key_id ?? '');
  if (!key) return;
  const at = new Date();
  await sql`
    UPDATE audit_chains SET checkpoint_position = ${position}, checkpoint_hash = ${hash}, checkpointed_at = ${at},
      checkpoint_mac = ${checkpointMac(key, { chainId, position, hash, at })}
    WHERE id = ${chainId}`.execute(tx);
}
