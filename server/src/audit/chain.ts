import type { Selectable } from 'kysely';
import type { AuditTables } from '../db/tables/audit.ts';
import type { AuditKey } from './audit-key.ts';

export type StoredEntry = Selectable<AuditTables['audit_entries']>;
export type Entry = Omit<StoredEntry, 'hash'>;

/** The position and hash of the last entry of a chain, or of a part of it. */
export interface Head {
  readonly position: number;
  readonly hash: Buffer;
}

/** Before the first entry. */
export const beginning: Head = { position: 0, hash: Buffer.alloc(32) };

/** The hash of an entry: it depends on every column, and on all entries before. */
export function hashOf(key: AuditKey, previous: Buffer, entry: Entry): Buffer {
  return key.chain(
    previous,
    JSON.stringify([
      entry.chain_id,
      entry.position,
      entry.at.getTime(),
      entry.actor_kind,
      entry.client_id,
      entry.operation,
      entry.emr,
      entry.care_unit_id,
      entry.patient_hashes.map((hash) => hash.toString('hex')),
      entry.record_ids,
      entry.outcome,
      entry.request_id,
    ]),
  );
}

/** Appends entries to a chain, in order. */
export function appendTo(
  key: AuditKey,
  chainId: string,
  head: Head,
  entries: readonly Omit<Entry, 'chain_id' | 'position'>[],
): StoredEntry[] {
  let last = head;
  return entries.map((entry) => {
    const placed = { ...entry, chain_id: chainId, position: last.position + 1 };
    const stored = { ...placed, hash: hashOf(key, last.hash, placed) };
    last = stored;
    return stored;
  });
}
