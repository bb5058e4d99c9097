import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { statement } from '../db/statement.ts';
import { beginning, type Head, type StoredEntry } from './chain.ts';

/**
 * Stores entries that follow each other in a chain, in one statement, all or none. Returns `false` if the chain is not
 * registered, or lacks the entry before them: after a failover that lost data, nothing is stored behind a gap.
 */
export async function insertEntries(db: Db, entries: readonly StoredEntry[]): Promise<boolean> {
  const [first] = entries;
  if (!first) return true;
  const { numAffectedRows } = await insert(db, {
    entries: JSON.stringify(entries.map(asJson)),
    chainId: first.chain_id,
    previous: first.position - 1,
  });
  return numAffectedRows === BigInt(entries.length);
}

function asJson({ patient_hashes, hash, ...entry }: StoredEntry) {
  return {
    ...entry,
    patient_hashes: patient_hashes.map((it) => it.toString('base64')),
    hash: hash.toString('base64'),
  };
}

interface Insertion {
  readonly entries: string;
  readonly chainId: string;
  readonly previous: number;
}

/** If the entry before them was deleted at the end of its retention, the checkpoint stands for it. */
const insert = statement(
  (_db, { entries, chainId, previous }: Insertion) => sql`
    INSERT INTO audit_entries (chain_id, position, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes,
      record_ids, outcome, request_id, hash)
    SELECT chain_id, position, at, actor_kind, client_id, operation, emr, care_unit_id,
      ARRAY(SELECT decode(it, 'base64') FROM json_array_elements_text(patient_hashes) AS it),
      ARRAY(SELECT it FROM json_array_elements_text(record_ids) AS it), outcome, request_id, decode(hash, 'base64')
    FROM json_to_recordset(${entries}::json) AS entry (
      chain_id uuid, position bigint, at timestamptz, actor_kind text, client_id text, operation text, emr text,
      care_unit_id text, patient_hashes json, record_ids json, outcome text, request_id text, hash text)
    WHERE EXISTS (
      SELECT FROM audit_chains AS chain WHERE chain.id = ${chainId}::uuid AND (
        ${previous}::bigint IN (0, chain.checkpoint_position) OR EXISTS (
          SELECT FROM audit_entries AS last WHERE last.chain_id = chain.id AND last.position = ${previous}::bigint)))`,
);

/** The last stored entry of a chain, or its checkpoint. `undefined`: the chain is not registered. */
export async function readHead(db: Db, chainId: string): Promise<Head | undefined> {
  const { rows } = await sql<{ position: number | null; hash: Buffer | null }>`
    SELECT coalesce(last.position, checkpoint_position) AS position, coalesce(last.hash, checkpoint_hash) AS hash
    FROM audit_chains AS chain LEFT JOIN LATERAL (
      SELECT position, hash FROM audit_entries WHERE chain_id = chain.id ORDER BY position DESC LIMIT 1) AS last ON true
    WHERE chain.id = ${chainId}`.execute(db);
  const [head] = rows;
  return head && (head.position === null || !head.hash ? beginning : { position: head.position, hash: head.hash });
}
