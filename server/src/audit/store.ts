import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { statement } from '../db/statement.ts';
import type { Head, StoredEntry } from './chain.ts';

/** Stores entries in one statement, all or none. */
export async function insertEntries(db: Db, entries: readonly StoredEntry[]): Promise<void> {
  await insert(db, { entries: JSON.stringify(entries.map(asJson)) });
}

function asJson({ patient_hashes, hash, ...entry }: StoredEntry) {
  return {
    ...entry,
    patient_hashes: patient_hashes.map((it) => it.toString('base64')),
    hash: hash.toString('base64'),
  };
}

const insert = statement(
  (_db, { entries }: { readonly entries: string }) => sql`
    INSERT INTO audit_entries (chain_id, position, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes,
      record_ids, outcome, request_id, hash)
    SELECT chain_id, position, at, actor_kind, client_id, operation, emr, care_unit_id,
      ARRAY(SELECT decode(it, 'base64') FROM json_array_elements_text(patient_hashes) AS it),
      ARRAY(SELECT it FROM json_array_elements_text(record_ids) AS it), outcome, request_id, decode(hash, 'base64')
    FROM json_to_recordset(${entries}::json) AS entry (
      chain_id uuid, position bigint, at timestamptz, actor_kind text, client_id text, operation text, emr text,
      care_unit_id text, patient_hashes json, record_ids json, outcome text, request_id text, hash text)`,
);

/** The last stored entry of a chain. */
export async function readHead(db: Db, chainId: string): Promise<Head | undefined> {
  return db
    .selectFrom('audit_entries')
    .select(['position', 'hash'])
    .where('chain_id', '=', chainId)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
}
