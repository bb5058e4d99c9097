import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { AuditTables } from '../db/tables/audit.ts';
import { type Anchor, anchorMac } from './anchors.ts';
import type { AuditKey } from './audit-key.ts';
import { beginning, type Head, hashOf, type StoredEntry } from './chain.ts';
import { checkpointMac } from './retention.ts';

const atOnce = 1_000;

/**
 * - `changed`: the entry at this position is not the one that was written
 * - `missing`: an entry was removed between others
 * - `cut_off`: the entries from this position on were removed
 * - `removed`: the whole chain was removed
 * - `anchor_changed`, `checkpoint_changed`: what the database says about the chain is not what the gateway wrote
 * - `not_verifiable`: the key is lost, with the secret key that encrypts it
 */
export type Fault =
  | 'changed'
  | 'missing'
  | 'cut_off'
  | 'removed'
  | 'anchor_changed'
  | 'checkpoint_changed'
  | 'not_verifiable';

export interface Verdict {
  readonly chainId: string;
  readonly fault: Fault | null;
  /** The first position with the fault. */
  readonly position: number | null;
  /** Entries that were verified. */
  readonly entries: number;
  /** Positions up to this one were deleted at the end of their retention. */
  readonly deletedUpTo: number;
  readonly firstAt: Date | null;
  readonly lastAt: Date | null;
}

type ChainRow = Selectable<AuditTables['audit_chains']>;

/**
 * Verifies each chain, from the oldest to the newest.
 *
 * @param keys by id
 * @param anchors kept outside the database
 */
export async function* verifyChains(
  db: Db,
  keys: ReadonlyMap<string, AuditKey>,
  anchors: readonly Anchor[] = [],
): AsyncGenerator<Verdict> {
  const kept = Map.groupBy(anchors, ({ chainId }) => chainId);
  for (const id of await chainIds(db)) {
    // One snapshot, because entries are added and deleted meanwhile.
    yield await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute((tx) => verifyChain(tx, keys, id, kept.get(id) ?? []));
    kept.delete(id);
  }
  for (const chainId of kept.keys()) yield { ...unverified(chainId), fault: 'removed', position: 1 };
}

/** Ids of all chains, the oldest first. Reads one index entry for each chain, to find chains whose row was removed. */
async function chainIds(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    WITH RECURSIVE with_entries AS (
      (SELECT chain_id FROM audit_entries ORDER BY chain_id LIMIT 1)
      UNION ALL
      SELECT (SELECT chain_id FROM audit_entries WHERE chain_id > before.chain_id ORDER BY chain_id LIMIT 1)
      FROM with_entries AS before WHERE before.chain_id IS NOT NULL)
    SELECT id FROM (
      SELECT id FROM audit_chains UNION SELECT chain_id FROM with_entries WHERE chain_id IS NOT NULL) AS known
    ORDER BY (SELECT started_at FROM audit_chains WHERE id = known.id), id`.execute(db);
  return rows.map(({ id }) => id);
}

function unverified(chainId: string): Verdict {
  return { chainId, fault: null, position: null, entries: 0, deletedUpTo: 0, firstAt: null, lastAt: null };
}

async function verifyChain(
  tx: Tx,
  keys: ReadonlyMap<string, AuditKey>,
  chainId: string,
  kept: readonly Anchor[],
): Promise<Verdict> {
  const chain = await tx.selectFrom('audit_chains').selectAll().where('id', '=', chainId).executeTakeFirst();
  // Its row is written before its first entry.
  if (!chain) return { ...unverified(chainId), fault: 'removed', position: 1 };
  const key = keys.get(chain.key_id);
  if (!key) return { ...unverified(chainId), fault: 'not_verifiable' };
  const checkpoint = checkpointOf(chain, key);
  if (checkpoint === 'changed') return { ...unverified(chainId), fault: 'checkpoint_changed' };
  const anchor = anchorOf(chain, key);
  if (anchor === 'changed') return { ...unverified(chainId), fault: 'anchor_changed' };
  return follow(tx, key, chainId, checkpoint, [...kept, anchor]);
}

/** Follows the chain from the checkpoint, and compares it with the anchors. */
async function follow(
  tx: Tx,
  key: AuditKey,
  chainId: string,
  checkpoint: Head,
  anchors: readonly Anchor[],
): Promise<Verdict> {
  let head: Head = checkpoint;
  let verdict: Verdict = { ...unverified(chainId), deletedUpTo: checkpoint.position };
  const fails = (fault: Fault, position: number) => ({ ...verdict, fault, position });
  const contradicts = ({ position, hash }: Head) =>
    anchors.some((anchor) => anchor.position === position && !anchor.hash.equals(hash));
  if (contradicts(checkpoint)) return fails('checkpoint_changed', checkpoint.position);
  for (;;) {
    const entries = await entriesAfter(tx, chainId, head.position);
    for (const entry of entries) {
      if (entry.position !== head.position + 1) return fails('missing', head.position + 1);
      if (!hashOf(key, head.hash, entry).equals(entry.hash) || contradicts(entry)) {
        return fails('changed', entry.position);
      }
      head = entry;
      verdict = {
        ...verdict,
        entries: verdict.entries + 1,
        firstAt: verdict.firstAt ?? entry.at,
        lastAt: entry.at,
      };
    }
    if (entries.length < atOnce) break;
  }
  const isCutOff = anchors.some(({ position }) => position > head.position);
  return isCutOff ? fails('cut_off', head.position + 1) : verdict;
}

function entriesAfter(tx: Tx, chainId: string, position: number): Promise<StoredEntry[]> {
  return tx
    .selectFrom('audit_entries')
    .selectAll()
    .where('chain_id', '=', chainId)
    .where('position', '>', position)
    .orderBy('position')
    .limit(atOnce)
    .execute();
}

function checkpointOf(chain: ChainRow, key: AuditKey): Head | 'changed' {
  const { id, checkpoint_position, checkpoint_hash, checkpointed_at, checkpoint_mac } = chain;
  if (checkpoint_position === null) return beginning;
  if (!checkpoint_hash || !checkpointed_at) return 'changed';
  const found = { chainId: id, position: checkpoint_position, hash: checkpoint_hash, at: checkpointed_at };
  return checkpoint_mac && checkpointMac(key, found).equals(checkpoint_mac) ? found : 'changed';
}

function anchorOf(chain: ChainRow, key: AuditKey): Anchor | 'changed' {
  const { id, anchor_position, anchor_hash, anchored_at, anchor_mac } = chain;
  const found = { chainId: id, position: anchor_position, hash: anchor_hash, at: anchored_at };
  return anchorMac(key, found).equals(anchor_mac) ? found : 'changed';
}
