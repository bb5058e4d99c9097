import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { AuditSubject, AuditTables } from '../db/tables/audit.ts';
import { type Anchor, anchorMac } from './anchors.ts';
import type { AuditKey } from './audit-keys.ts';
import { beginning, type Head, hashOf, type Linkable, type Linked } from './chain.ts';
import { checkpointMac } from './checkpoint.ts';
import { isGenuine, type StoredDraft } from './drafts.ts';
import { linkedAccesses } from './linked-accesses.ts';
import { linkedActivity } from './linked-activity.ts';

const atOnce = 1_000;

/**
 * - `changed`: the entry at this position is not the one that was written
 * - `missing`: an entry was removed between others
 * - `cut_off`: the entries from this position on were removed
 * - `removed`: the whole chain was removed
 * - `anchor_changed`, `checkpoint_changed`: what the database says about the chain is not what the gateway wrote
 * - `not_verifiable`: the key is lost, with the secret key that encrypts it
 */
export type AuditFault =
  | 'changed'
  | 'missing'
  | 'cut_off'
  | 'removed'
  | 'anchor_changed'
  | 'checkpoint_changed'
  | 'not_verifiable';

export interface AuditVerdict {
  readonly chainId: string;
  readonly subject: AuditSubject | null;
  readonly fault: AuditFault | null;
  /** The first position with the fault. */
  readonly position: number | null;
  /** Entries that were verified. */
  readonly entries: number;
  /** Positions up to this one were deleted at the end of their retention. */
  readonly deletedUpTo: number;
  /**
   * The last position of which an anchor outside the database says that it existed. Whether later entries were removed cannot be
   * seen, because somebody with the database can put back an earlier state of a chain together with its own anchor.
   */
  readonly anchoredUpTo: number;
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
): AsyncGenerator<AuditVerdict> {
  const kept = Map.groupBy(anchors, ({ chainId }) => chainId);
  for (const id of await chainIds(db)) {
    // One snapshot, because entries are added and deleted meanwhile.
    yield await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        // Before the snapshot is taken: a month that is dropped after it would be missing.
        await sql`LOCK TABLE audit_entries IN ACCESS SHARE MODE`.execute(tx);
        return verifyChain(tx, keys, id, kept.get(id) ?? []);
      });
    kept.delete(id);
  }
  for (const [chainId, anchors] of kept) yield { ...unverified(chainId, anchors), fault: 'removed', position: 1 };
}

/** Ids of all chains, the oldest first. Reads one index entry for each chain, to find chains whose row was removed. */
async function chainIds(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    WITH RECURSIVE with_rows AS (
      (SELECT chain_id FROM audit_links ORDER BY chain_id LIMIT 1)
      UNION ALL
      SELECT (SELECT chain_id FROM audit_links WHERE chain_id > before.chain_id ORDER BY chain_id LIMIT 1)
      FROM with_rows AS before WHERE before.chain_id IS NOT NULL)
    SELECT id FROM (
      SELECT id FROM audit_chains UNION SELECT chain_id FROM with_rows WHERE chain_id IS NOT NULL) AS known
    ORDER BY (SELECT started_at FROM audit_chains WHERE id = known.id), id`.execute(db);
  return rows.map(({ id }) => id);
}

function unverified(chainId: string, kept: readonly Anchor[]): AuditVerdict {
  const anchoredUpTo = Math.max(0, ...kept.map(({ position }) => position));
  const nothing = { position: null, entries: 0, deletedUpTo: 0, firstAt: null, lastAt: null };
  return { chainId, subject: null, fault: null, anchoredUpTo, ...nothing };
}

async function verifyChain(
  tx: Tx,
  keys: ReadonlyMap<string, AuditKey>,
  chainId: string,
  kept: readonly Anchor[],
): Promise<AuditVerdict> {
  const chain = await tx.selectFrom('audit_chains').selectAll().where('id', '=', chainId).executeTakeFirst();
  const unknown = unverified(chainId, kept);
  // Its row is written before its first entry.
  if (!chain) return { ...unknown, fault: 'removed', position: 1 };
  const verdict = { ...unknown, subject: chain.subject };
  const key = keys.get(chain.key_id);
  if (!key) return { ...verdict, fault: 'not_verifiable' };
  const checkpoint = checkpointOf(chain, key);
  if (checkpoint === 'changed') return { ...verdict, fault: 'checkpoint_changed' };
  const anchor = anchorOf(chain, key);
  if (anchor === 'changed') return { ...verdict, fault: 'anchor_changed' };
  const found = { verdict: { ...verdict, deletedUpTo: checkpoint.position }, checkpoint, anchors: [...kept, anchor] };
  return chain.subject === 'accesses' ? follow(tx, key, linkedAccesses, found) : follow(tx, key, linkedActivity, found);
}

interface Found {
  readonly verdict: AuditVerdict;
  readonly checkpoint: Head;
  readonly anchors: readonly Anchor[];
}

/** Follows the chain from the checkpoint, and compares it with the anchors. */
async function follow<Row, LinkedRow extends Row & Linked>(
  tx: Tx,
  key: AuditKey,
  linkable: Linkable<Row, LinkedRow>,
  { verdict: begun, checkpoint, anchors }: Found,
): Promise<AuditVerdict> {
  let head: Head = checkpoint;
  let verdict = begun;
  const { chainId } = begun;
  const fails = (fault: AuditFault, position: number) => ({ ...verdict, fault, position });
  const contradicts = ({ position, hash }: Head) =>
    anchors.some((anchor) => anchor.position === position && !anchor.hash.equals(hash));
  if (contradicts(checkpoint)) return fails('checkpoint_changed', checkpoint.position);
  for (;;) {
    const rows = await linkable.readLinked(tx, chainId, head.position, atOnce);
    for (const row of rows) {
      if (row.position !== head.position + 1) return fails('missing', head.position + 1);
      if (!hashOf(key, head.hash, linkable, row, row).equals(row.hash) || contradicts(row)) {
        return fails('changed', row.position);
      }
      head = row;
      verdict = { ...verdict, entries: verdict.entries + 1, firstAt: verdict.firstAt ?? row.at, lastAt: row.at };
    }
    if (rows.length < atOnce) break;
  }
  const isCutOff = anchors.some(({ position }) => position > head.position);
  return isCutOff ? fails('cut_off', head.position + 1) : verdict;
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

/** What is stored, but not linked into a chain yet. */
export interface Unlinked {
  readonly accesses: number;
  /** Of these, how many were stored more than a minute ago. */
  readonly overdue: number;
  /** Of these, how many no gateway has written as they are. */
  readonly falsified: number;
  readonly activity: number;
}

/** Counts what is not linked yet, and checks each draft. A draft whose key is lost cannot be checked. */
export async function verifyUnlinked(db: Db, keys: ReadonlyMap<string, AuditKey>): Promise<Unlinked> {
  let falsified = 0;
  let after = 0;
  for (;;) {
    const drafts = await readDraftsAfter(db, after, atOnce);
    for (const draft of drafts) {
      const key = keys.get(draft.key_id);
      if (key && !isGenuine(key, draft)) falsified++;
      after = draft.id;
    }
    if (drafts.length < atOnce) break;
  }
  const { rows } = await sql<Omit<Unlinked, 'falsified'>>`
    SELECT count(*)::int AS accesses, count(*) FILTER (WHERE written_at < now() - interval '1 minute')::int AS overdue,
      (SELECT count(*)::int FROM operator_activity WHERE chain_id IS NULL) AS activity
    FROM audit_drafts`.execute(db);
  return { accesses: 0, overdue: 0, activity: 0, ...rows[0], falsified };
}

function readDraftsAfter(db: Db, id: number, limit: number): Promise<StoredDraft[]> {
  return db.selectFrom('audit_drafts').selectAll().where('id', '>', id).orderBy('id').limit(limit).execute();
}
