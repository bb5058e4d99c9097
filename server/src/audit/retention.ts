import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { AuditKey } from './audit-key.ts';
import { beginning, type Head } from './chain.ts';

/** Entries of a chain up to this one were deleted at the end of their retention. */
interface Checkpoint extends Head {
  readonly chainId: string;
  readonly at: Date;
}

/** A keyed hash, so that nobody without the key can pass off a removal as a deletion. */
export function checkpointMac(key: AuditKey, { chainId, position, hash, at }: Checkpoint): Buffer {
  return key.sign(JSON.stringify(['checkpoint', chainId, position, hash.toString('hex'), at.getTime()]));
}

/**
 * Deletes the oldest entries of a chain after the retention, at most `limit`, and keeps a checkpoint from which the rest is
 * verified. Also deletes entries of chains whose key is lost.
 */
export async function deleteOldEntries(db: Db, key: AuditKey, days: number, limit: number): Promise<void> {
  const { rows } = await sql<{ chain_id: string }>`
    SELECT chain_id FROM audit_entries WHERE at < now() - ${days} * interval '1 day' ORDER BY at LIMIT 1`.execute(db);
  const chainId = rows[0]?.chain_id;
  if (chainId === undefined) return;
  await db.transaction().execute(async (tx) => {
    const last = await lastExpired(tx, chainId, days, limit);
    if (!last) return;
    const checkpoint = { chainId, ...last, at: new Date() };
    await sql`
      UPDATE audit_chains SET checkpoint_position = ${last.position}, checkpoint_hash = ${last.hash},
        checkpointed_at = ${checkpoint.at}, checkpoint_mac = ${checkpointMac(key, checkpoint)}
      WHERE id = ${chainId}`.execute(tx);
    await sql`SELECT set_config('crossward.audit_deletion', 'on', true)`.execute(tx);
    await sql`DELETE FROM audit_entries WHERE chain_id = ${chainId} AND position <= ${last.position}`.execute(tx);
  });
}

/** The last entry before the first one that is kept. Other gateways wait for the lock. */
async function lastExpired(tx: Tx, chainId: string, days: number, limit: number): Promise<Head | undefined> {
  const chain = await tx
    .selectFrom('audit_chains')
    .select('checkpoint_position')
    .where('id', '=', chainId)
    .forUpdate()
    .executeTakeFirst();
  const after = chain?.checkpoint_position ?? beginning.position;
  const { rows } = await sql<Head & { is_expired: boolean }>`
    SELECT position, hash, at < now() - ${days} * interval '1 day' AS is_expired FROM audit_entries
    WHERE chain_id = ${chainId} AND position > ${after} ORDER BY position LIMIT ${limit}`.execute(tx);
  const kept = rows.findIndex(({ is_expired }) => !is_expired);
  return kept === -1 ? rows.at(-1) : rows[kept - 1];
}
