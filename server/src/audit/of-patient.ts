import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';

/** What the audit trail has about a patient. */
export interface EntriesOfPatient {
  readonly entries: number;
  /** The writes among them that began in the last day. */
  readonly writeIds: readonly string[];
}

/** @param hashes of the patient, by each key of the trail */
export async function entriesOfPatient(db: Db | Tx, hashes: readonly Buffer[]): Promise<EntriesOfPatient> {
  const { rows } = await sql<{ entries: number; operation_ids: string[] | null }>`
    SELECT count(*)::int AS entries, array_agg(DISTINCT operation_id) FILTER (
      WHERE operation_id IS NOT NULL AND at > now() - interval '25 hours') AS operation_ids
    FROM (
      SELECT at, operation_id FROM audit_entries WHERE patient_hashes && ${hashes}::bytea[]
      UNION ALL
      SELECT at, operation_id FROM audit_drafts WHERE patient_hashes && ${hashes}::bytea[]) AS found`.execute(db);
  return { entries: rows[0]?.entries ?? 0, writeIds: rows[0]?.operation_ids ?? [] };
}
