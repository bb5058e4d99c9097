import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Db } from '../db/kysely.ts';
import type { AuditSubject } from '../db/tables/audit.ts';
import type { AuditKey } from './audit-keys.ts';
import { beginning, type Head } from './chain.ts';

/** At this time, the chain was intact up to this position. */
export interface Anchor extends Head {
  readonly chainId: string;
  readonly at: Date;
}

/** The message of the log line that `audit verify --anchors` reads. */
export const anchorMessage = 'audit anchor';

/** Writes an anchor to the log, which is kept outside the database. */
export function logAnchor(log: Logger, { chainId, position, hash, at }: Anchor): void {
  log.info({ chain: chainId, position, hash: hash.toString('hex'), at: at.toISOString() }, anchorMessage);
}

/** A keyed hash, so that nobody without the key can move an anchor back. */
export function anchorMac(key: AuditKey, { chainId, position, hash, at }: Anchor): Buffer {
  return key.sign(JSON.stringify(['anchor', chainId, position, hash.toString('hex'), at.getTime()]));
}

/** Registers a chain before its first row. It always has an anchor, so that a removed one shows. */
export async function insertChain(
  db: Db,
  key: AuditKey,
  { id, subject }: { readonly id: string; readonly subject: AuditSubject },
): Promise<void> {
  const anchor = { chainId: id, ...beginning, at: new Date() };
  await db
    .insertInto('audit_chains')
    .values({
      id,
      key_id: key.id,
      subject,
      started_at: anchor.at,
      anchor_position: anchor.position,
      anchor_hash: anchor.hash,
      anchored_at: anchor.at,
      anchor_mac: anchorMac(key, anchor),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Stores an anchor, unless the chain has a later one. `isLast`: the process writes no more. */
export async function storeAnchor(db: Db, key: AuditKey, anchor: Anchor, isLast: boolean): Promise<void> {
  const { chainId, position, hash, at } = anchor;
  await sql`
    UPDATE audit_chains SET
      anchor_position = ${position}, anchor_hash = ${hash}, anchored_at = ${at}, anchor_mac = ${anchorMac(key, anchor)},
      closed_at = CASE WHEN ${isLast} THEN ${at} ELSE closed_at END
    WHERE id = ${chainId} AND anchor_position <= ${position}`.execute(db);
}

/** Anchors the chains of other processes, running or killed, that have grown since their last anchor. */
export async function anchorEarlierChains(db: Db, key: AuditKey, log: Logger): Promise<void> {
  const { rows } = await sql<Head & { readonly id: string }>`
    SELECT id, last.position, last.hash FROM audit_chains AS chain, LATERAL (
      SELECT position, hash FROM audit_links WHERE chain_id = chain.id ORDER BY position DESC LIMIT 1) AS last
    WHERE closed_at IS NULL AND key_id = ${key.id} AND last.position > anchor_position`.execute(db);
  for (const { id: chainId, ...head } of rows) {
    const anchor = { chainId, ...head, at: new Date() };
    logAnchor(log, anchor);
    await storeAnchor(db, key, anchor, false);
  }
}
