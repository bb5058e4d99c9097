import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/kysely.ts';
import type { StoredEntry } from '../linked-accesses.ts';

/** Entries that match all of these. */
export interface ExportFilter {
  readonly emr?: string | undefined;
  readonly clientId?: string | undefined;
  /** Entries with one of these. */
  readonly patientHashes?: readonly Buffer[] | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
}

/** Entries behind an export position, in the order of these positions. */
export async function readEntries(
  db: Db,
  after: number,
  limit: number,
  { emr, clientId, patientHashes, from, to }: ExportFilter = {},
): Promise<StoredEntry[]> {
  const conditions: RawBuilder<unknown>[] = [sql`export_position > ${after}`];
  if (emr !== undefined) conditions.push(sql`emr = ${emr}`);
  if (clientId !== undefined) conditions.push(sql`client_id = ${clientId}`);
  if (patientHashes !== undefined) conditions.push(sql`patient_hashes && ${patientHashes}::bytea[]`);
  if (from !== undefined) conditions.push(sql`at >= ${from}`);
  if (to !== undefined) conditions.push(sql`at < ${to}`);
  const { rows } = await sql<StoredEntry>`
    SELECT * FROM audit_entries WHERE ${sql.join(conditions, sql` AND `)} ORDER BY export_position LIMIT ${limit}`.execute(
    db,
  );
  return rows;
}
