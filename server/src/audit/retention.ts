import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { AuditKey } from './audit-key.ts';
import { beginning, type Head } from './chain.ts';
import { readAuditKeys } from './key-store.ts';

/** Entries of a chain up to this one were deleted at the end of their retention. */
interface Checkpoint extends Head {
  readonly chainId: string;
  readonly at: Date;
}

/** A keyed hash, so that nobody without the key can pass off a removal as a deletion. */
export function checkpointMac(key: AuditKey, { chainId, position, hash, at }: Checkpoint): Buffer {
  return key.sign(JSON.stringify(['checkpoint', chainId, position, hash.toString('hex'), at.getTime()]));
}

interface Limits {
  /** Days for which entries are kept. */
  readonly days: number;
  /** Maximum number of entries to delete. */
  readonly limit: number;
}

/**
 * Deletes the oldest entries of a chain after the retention, and keeps a checkpoint from which the rest is verified. Entries
 * of a chain whose key is lost are deleted without a checkpoint.
 *
 * @returns whether it has deleted `limit` entries, so that there can be more
 */
export async function deleteOldEntries(db: Db, keys: KeyRing, limits: Limits): Promise<boolean> {
  const chainId = await findExpired(db, limits.days);
  if (chainId === undefined) return false;
  const auditKeys = await readAuditKeys(db, keys);
  return db.transaction().execute(async (tx) => {
    // Other gateways wait for the lock.
    const chain = await tx
      .selectFrom('audit_chains')
      .select(['key_id', 'checkpoint_position'])
      .where('id', '=', chainId)
      .forUpdate()
      .executeTakeFirst();
    const last = await lastExpired(tx, chainId, chain?.checkpoint_position ?? beginning.position, limits);
    if (!last) return false;
    const key = auditKeys.get(chain?.key_id ?? '');
    const checkpoint = { chainId, ...last, at: new Date() };
    if (key) {
      await sql`
        UPDATE audit_chains SET checkpoint_position = ${last.position}, checkpoint_hash = ${last.hash},
          checkpointed_at = ${checkpoint.at}, checkpoint_mac = ${checkpointMac(key, checkpoint)}
        WHERE id = ${chainId}`.execute(tx);
    }
    await sql`SELECT set_config('crossward.audit_deletion', 'on', true)`.execute(tx);
    const { numAffectedRows } = await sql`
      DELETE FROM audit_entries WHERE chain_id = ${chainId} AND position <= ${last.position}`.execute(tx);
    return numAffectedRows !== undefined && numAffectedRows >= limits.limit;
  });
}

/**
 * The chain with the oldest entry that can be deleted. Looks at chains whose first entry has expired: an expired entry behind
 * a younger one, written by a gateway with a wrong clock, must not stop the deletion of other chains.
 */
async function findExpired(db: Db, days: number): Promise<string | undefined> {
  const { rows } = await sql<{ chain_id: string }>`
    SELECT chain_id FROM audit_entries AS expired
    WHERE at < now() - ${days} * interval '1 day' AND (
      SELECT front.at FROM audit_entries AS front WHERE front.chain_id = expired.chain_id ORDER BY front.position LIMIT 1
    ) < now() - ${days} * interval '1 day'
    ORDER BY at LIMIT 1`.execute(db);
  return rows[0]?.chain_id;
}

/** The last entry before the first one that is kept. */
async function lastExpired(tx: Tx, chainId: string, after: number, { days, limit }: Limits): Promise<Head | undefined> {
  const { rows } = await sql<Head & { is_expired: boolean }>`
    SELECT position, hash, at < now() - ${days} * interval '1 day' AS is_expired FROM audit_entries
    WHERE chain_id = ${chainId} AND position > ${after} ORDER BY position LIMIT ${limit}`.execute(tx);
  const kept = rows.findIndex(({ is_expired }) => !is_expired);
  return kept === -1 ? rows.at(-1) : rows[kept - 1];
}
