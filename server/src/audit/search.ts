import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { AuditKey } from './audit-key.ts';
import type { StoredEntry } from './chain.ts';

/** Entries that match all of these. */
export interface AuditSearch {
  readonly emr?: string | undefined;
  /** In its normal form, with its type. Requires `emr`. */
  readonly patient?: string | undefined;
  readonly clientId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
}

/** Where a page ends. */
export type AuditPosition = Pick<StoredEntry, 'at' | 'chain_id' | 'position'>;

/**
 * Finds entries, the newest first.
 *
 * @param keys all that can be read: each has hashes of its own
 * @param before the last entry of the previous page
 */
export function searchEntries(
  db: Db,
  keys: Iterable<AuditKey>,
  { emr, patient, clientId, requestId, from, to }: AuditSearch,
  { limit, before }: { readonly limit: number; readonly before?: AuditPosition | undefined },
): Promise<StoredEntry[]> {
  let select = db.selectFrom('audit_entries').selectAll();
  if (emr !== undefined) select = select.where('emr', '=', emr);
  if (patient !== undefined) {
    const hashes = [...keys].map((key) => key.hashPatient(emr ?? '', patient));
    select = select.where(sql<boolean>`patient_hashes && ${hashes}::bytea[]`);
  }
  if (clientId !== undefined) select = select.where('client_id', '=', clientId);
  if (requestId !== undefined) select = select.where('request_id', '=', requestId);
  if (from !== undefined) select = select.where('at', '>=', from);
  if (to !== undefined) select = select.where('at', '<', to);
  if (before) {
    select = select.where(
      sql<boolean>`(at, chain_id, position) < (${before.at}, ${before.chain_id}::uuid, ${before.position}::bigint)`,
    );
  }
  return select.orderBy('at', 'desc').orderBy('chain_id', 'desc').orderBy('position', 'desc').limit(limit).execute();
}
