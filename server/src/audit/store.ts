import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { statement } from '../db/statement.ts';
import { beginning, type Head } from './chain.ts';

interface Links {
  readonly chainId: string;
  /** The position of the head that the hashes follow. */
  readonly behind: number;
  readonly ids: readonly number[];
  readonly hashes: readonly Buffer[];
}

const callLink = statement(
  (_db, { chainId, behind, ids, hashes }: Links) => sql<{ is_linked: boolean }>`
    SELECT link_to_chain(${chainId}::uuid, ${behind}::bigint, ${ids}::bigint[], ${hashes}::bytea[]) AS is_linked`,
);

/**
 * Links rows behind a position of a chain, all or none. Returns `false` if the chain is not registered or does not end there:
 * after a failover that lost data, nothing is linked behind a gap.
 *
 * @throws an error for which `isSerializationFailure` holds if another process has linked one of the rows
 */
export async function linkRows(db: Db, links: Links): Promise<boolean> {
  const { rows } = await callLink(db, links);
  return rows[0]?.is_linked === true;
}

/** The last row of a chain, or its checkpoint. `undefined`: the chain is not registered. */
export async function readHead(db: Db, chainId: string): Promise<Head | undefined> {
  const { rows } = await sql<{ position: number | null; hash: Buffer | null }>`
    SELECT coalesce(last.position, checkpoint_position) AS position, coalesce(last.hash, checkpoint_hash) AS hash
    FROM audit_chains AS chain LEFT JOIN LATERAL (
      SELECT position, hash FROM audit_links WHERE chain_id = chain.id ORDER BY position DESC LIMIT 1) AS last ON true
    WHERE chain.id = ${chainId}`.execute(db);
  const [head] = rows;
  return head && (head.position === null || !head.hash ? beginning : { position: head.position, hash: head.hash });
}
