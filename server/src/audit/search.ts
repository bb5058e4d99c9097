import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { AccessColumns } from '../db/tables/audit.ts';
import type { AuditKey } from './audit-keys.ts';

/** Entries that match all of these. */
export interface AuditSearch {
  readonly emr?: string | undefined;
  readonly careUnitIds?: readonly string[] | undefined;
  /** Identifiers of one patient in their normal form, with their type. Requires `emr`. */
  readonly patients?: readonly string[] | undefined;
  readonly clientId?: string | undefined;
  /** Of the request, or of the write. */
  readonly requestId?: string | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
}

/** An entry, or a draft that is not linked into a chain yet. */
export interface FoundAccess extends AccessColumns {
  readonly chain_id: string | null;
  readonly position: number | null;
  readonly hash: Buffer | null;
  /** Orders accesses of the same time. Stays the same when a draft becomes an entry. */
  readonly key: string;
}

/** Where a page ends. */
export type AuditPosition = Pick<FoundAccess, 'at' | 'key'>;

const columns = sql`at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes, record_ids, outcome, request_id,
  operation_id`;
const keyOfId = sql`lpad(id::text, 20, '0')`;
/** Entries of the previous release have no id. */
const keyOfEntry = sql`coalesce(${keyOfId}, chain_id || ' ' || lpad(position::text, 20, '0'))`;

/**
 * Finds accesses, the newest first.
 *
 * @param keys all that can be read: each has hashes of its own
 * @param before the last one of the previous page
 */
export async function searchEntries(
  db: Db,
  keys: Iterable<AuditKey>,
  { emr, careUnitIds, patients, clientId, requestId, from, to }: AuditSearch,
  { limit, before }: { readonly limit: number; readonly before?: AuditPosition | undefined },
): Promise<FoundAccess[]> {
  const conditions: RawBuilder<unknown>[] = [sql`true`];
  if (emr !== undefined) conditions.push(sql`emr = ${emr}`);
  if (careUnitIds !== undefined) conditions.push(sql`care_unit_id = ANY(${careUnitIds}::text[])`);
  if (patients !== undefined) {
    const hashes = [...keys].flatMap((key) => patients.map((patient) => key.hashPatient(emr ?? '', patient)));
    conditions.push(sql`patient_hashes && ${hashes}::bytea[]`);
  }
  if (clientId !== undefined) conditions.push(sql`client_id = ${clientId}`);
  if (requestId !== undefined) {
    conditions.push(sql`(request_id = ${requestId} OR operation_id::text = ${requestId})`);
  }
  if (from !== undefined) conditions.push(sql`at >= ${from}`);
  if (to !== undefined) conditions.push(sql`at < ${to}`);
  const part = (table: RawBuilder<unknown>, key: RawBuilder<unknown>, place: RawBuilder<unknown>) => {
    // The first condition is for the index.
    const isBefore = before ? sql`at <= ${before.at} AND (at, ${key}) < (${before.at}, ${before.key})` : sql`true`;
    return sql`(
      SELECT ${columns}, ${key} AS key, ${place} FROM ${table} WHERE ${sql.join(conditions, sql` AND `)} AND ${isBefore}
      ORDER BY at DESC, key DESC LIMIT ${limit})`;
  };
  const { rows } = await sql<FoundAccess>`
    SELECT * FROM (${part(sql`audit_entries`, keyOfEntry, sql`chain_id, position, hash`)} UNION ALL
    ${part(sql`audit_drafts`, keyOfId, sql`NULL::uuid, NULL::bigint, NULL::bytea`)}) AS found
    ORDER BY at DESC, key DESC LIMIT ${limit}`.execute(db);
  return rows;
}
