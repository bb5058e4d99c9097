import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { AuditSubject } from '../db/tables/audit.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { AuditKey } from './audit-key.ts';
import { beginning, type Head } from './chain.ts';
import { readAuditKeys } from './key-store.ts';

/** Rows of a chain up to this one were deleted at the end of their retention. */
interface Checkpoint extends Head {
  readonly chainId: string;
  readonly at: Date;
}

/** A keyed hash, so that nobody without the key can pass off a removal as a deletion. */
export function checkpointMac(key: AuditKey, { chainId, position, hash, at }: Checkpoint): Buffer {
  return key.sign(JSON.stringify(['checkpoint', chainId, position, hash.toString('hex'), at.getTime()]));
}

interface Limits {
  /** Days for which accesses are kept. */
  readonly days: number;
  /** Maximum number of rows to delete. */
  readonly limit: number;
}

/** Days for which the activity of operators is kept. */
const activityDays = 400;

const tables = { accesses: sql.table('audit_entries'), activity: sql.table('operator_activity') };

/**
 * Deletes the oldest rows of a chain after the retention, and keeps a checkpoint from which the rest is verified. Rows of a
 * chain whose key is lost are deleted without a checkpoint.
 *
 * @returns whether it has deleted `limit` rows, so that there can be more
 */
export async function deleteOldEntries(
  db: Db,
  keys: KeyRing,
  subject: AuditSubject,
  { days: accessDays, limit }: Limits,
): Promise<boolean> {
  const days = subject === 'accesses' ? Math.max(accessDays, await readLeastDays(db)) : activityDays;
  const chainId = await findExpired(db, subject, days);
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
    const behind = chain?.checkpoint_position ?? beginning.position;
    const last = await lastExpired(tx, { chainId, subject, behind }, { days, limit });
    if (!last) return false;
    const key = auditKeys.get(chain?.key_id ?? '');
    const checkpoint = { chainId, ...last, at: new Date() };
    if (key) {
      await sql`
        UPDATE audit_chains SET checkpoint_position = ${last.position}, checkpoint_hash = ${last.hash},
          checkpointed_at = ${checkpoint.at}, checkpoint_mac = ${checkpointMac(key, checkpoint)}
        WHERE id = ${chainId}`.execute(tx);
    }
    const { rows } = await sql<{ deleted: number }>`
      SELECT delete_expired_links(${chainId}, ${last.position}, ${days}) AS deleted`.execute(tx);
    return (rows[0]?.deleted ?? 0) >= limit;
  });
}

/** A shorter retention in the configuration does not count: `delete_expired_links` checks this again. */
async function readLeastDays(db: Db): Promise<number> {
  const { rows } = await sql<{ least_days: number }>`SELECT least_days FROM audit_retention`.execute(db);
  return rows[0]?.least_days ?? 0;
}

/**
 * The chain with the oldest row that can be deleted. Looks at chains whose first row has expired: an expired row behind a
 * younger one, written by a gateway with a wrong clock, must not stop the deletion of other chains.
 */
async function findExpired(db: Db, subject: AuditSubject, days: number): Promise<string | undefined> {
  const table = tables[subject];
  const { rows } = await sql<{ chain_id: string }>`
    SELECT chain_id FROM ${table} AS expired
    WHERE at < now() - ${days} * interval '1 day' AND chain_id IS NOT NULL AND (
      SELECT front.at FROM ${table} AS front WHERE front.chain_id = expired.chain_id ORDER BY front.position LIMIT 1
    ) < now() - ${days} * interval '1 day'
    ORDER BY at LIMIT 1`.execute(db);
  return rows[0]?.chain_id;
}

interface Part {
  readonly chainId: string;
  readonly subject: AuditSubject;
  /** A position. */
  readonly behind: number;
}

/** The last row before the first one that is kept. */
async function lastExpired(
  tx: Tx,
  { chainId, subject, behind }: Part,
  { days, limit }: Limits,
): Promise<Head | undefined> {
  const { rows } = await sql<Head & { is_expired: boolean }>`
    SELECT position, hash, at < now() - ${days} * interval '1 day' AS is_expired FROM ${tables[subject]}
    WHERE chain_id = ${chainId} AND position > ${behind} ORDER BY position LIMIT ${limit}`.execute(tx);
  const kept = rows.findIndex(({ is_expired }) => !is_expired);
  return kept === -1 ? rows.at(-1) : rows[kept - 1];
}
