import type { Selectable } from 'kysely';
import type { AccessColumns, AuditTables } from '../db/tables/audit.ts';
import type { Linkable } from './chain.ts';
import { contentOf } from './drafts.ts';

export type StoredEntry = Selectable<AuditTables['audit_entries']>;

/** An access before it is linked, or as an entry. */
type Identified = AccessColumns & { readonly id: number | null };

/** Entries of the audit trail. Those that the previous release has written have no id, and a shorter text. */
export const linkedAccesses: Linkable<Identified, StoredEntry> = {
  subject: 'accesses',
  textOf: (access, { chain_id, position }) =>
    JSON.stringify([
      chain_id,
      position,
      ...contentOf(access),
      ...(access.id === null ? [] : [access.operation_id, access.id]),
    ]),
  readLinked: (db, chainId, behind, limit) =>
    db
      .selectFrom('audit_entries')
      .selectAll()
      .where('chain_id', '=', chainId)
      .where('position', '>', behind)
      .orderBy('position')
      .limit(limit)
      .execute(),
};
