import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { readAuditKeys } from './audit-keys.ts';
import { beginning, type Head } from './chain.ts';
import { storeCheckpoint } from './checkpoint.ts';

/** Days for which the activity of operators is kept. */
const days = 400;

/**
 * Deletes the oldest rows of a chain of what operators did, and keeps a checkpoint from which the rest is verified. Rows of a
 * chain whose key is lost are deleted without a checkpoint.
 *
 * @returns whether it has deleted `limit` rows, so that there can be more
 */
export async function deleteOldActivity(db: Db, keys: KeyRing, limit: number): Promise<boolean> {
  const chainId = await findExpired(db);
  if (chainId === undefined) return false;
  const auditKeys = await readAuditKeys(db, keys);
  return db.transaction().execute(async (tx) => {
    // Other gateways wait for the lock.
    const chain = await tx
      .selectFrom('audit_chains')
      .select('checkpoint_position')
      .where('id', '=', chainId)
      .forUpdate()
      .executeTakeFirst();
    const last = await lastExpired(tx, chainId, chain?.checkpoint_position ?? beginning.position, limit);
    if (!last) return false;
    await storeCheckpoint(tx, auditKeys, { chainId, ...last });
    const { rows } = await sql<{ deleted: number }>`
      SELECT delete_expired_links(${chainId}, ${last.position}, ${days}) AS deleted`.execute(tx);
    return (rows[0]?.deleted ?? 0) >= limit;
  });
}

/**
 * The chain with the oldest row that can be deleted. Looks at chains whose first row has expired: an expired row behind a
 * younger one, written by a gateway with a wrong clock, must not stop the deletion of other chains.
 */
async function findExpired(db: Db): Promise<string | undefined> {
  const { rows } = await sql<{ chain_id: string }>`
    SELECT chain_id FROM operator_activity AS expired
    WHERE at < now() - ${days} * interval '1 day' AND chain_id IS NOT NULL AND (
      SELECT front.at FROM operator_activity AS front
      WHERE front.chain_id = expired.chain_id ORDER BY front.position LIMIT 1
    ) < now() - ${days} * interval '1 day'
    ORDER BY at LIMIT 1`.execute(db);
  return rows[0]?.chain_id;
}

/** The last row before the first one that is kept. */
async function lastExpired(tx: Tx, chainId: string, behind: number, limit: number): Promise<Head | undefined> {
  const { rows } = await sql<Head & { is_expired: boolean }>`
    SELECT position, hash, at < now() - ${days} * interval '1 day' AS is_expired FROM operator_activity
    WHERE chain_id = ${chainId} AND position > ${behind} ORDER BY position LIMIT ${limit}`.execute(tx);
  const kept = rows.findIndex(({ is_expired }) => !is_expired);
  return kept === -1 ? rows.at(-1) : rows[kept - 1];
}
