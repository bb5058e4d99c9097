import type { Generated } from 'kysely';

/** Who had access: a client, a patient on the page for patients, or a background job. */
export const auditActors = ['client', 'patient_page', 'background'] as const;
export type AuditActor = (typeof auditActors)[number];

/** What a chain consists of: accesses to patients' records, or what operators did. */
export type AuditSubject = 'accesses' | 'activity';

interface AuditKeyRow {
  id: string;
  sealed_key: Buffer;
  created_at: Generated<Date>;
}

interface AuditChainRow {
  id: string;
  key_id: string;
  subject: AuditSubject;
  linked_position: Generated<number>;
  started_at: Date;
  closed_at: Date | null;
  anchor_position: number;
  anchor_hash: Buffer;
  anchored_at: Date;
  anchor_mac: Buffer;
  checkpoint_position: number | null;
  checkpoint_hash: Buffer | null;
  checkpointed_at: Date | null;
  checkpoint_mac: Buffer | null;
}

/** What an entry says about an access. */
export interface AccessColumns {
  at: Date;
  actor_kind: AuditActor;
  client_id: string;
  operation: string;
  emr: string;
  care_unit_id: string;
  patient_hashes: Buffer[];
  record_ids: string[];
  outcome: string;
  request_id: string;
  operation_id: string | null;
}

interface AuditEntryRow extends AccessColumns {
  chain_id: string;
  position: number;
  /** Null: written by the previous release. */
  id: number | null;
  hash: Buffer;
  /** Its place in exports, without gaps. */
  export_position: number;
}

interface AuditDraftRow extends AccessColumns {
  id: Generated<number>;
  written_at: Generated<Date>;
  writer_id: string;
  key_id: string;
  mac: Buffer;
}

interface AuditExportPositionRow {
  is_only: Generated<boolean>;
  last: number;
}

interface AuditExportRow {
  is_only: Generated<boolean>;
  exported: Generated<number>;
  exported_at: Date | null;
  writer_id: string | null;
  leased_until: Generated<Date>;
  failure: string | null;
  failed_at: Date | null;
}

export interface AuditTables {
  audit_export_positions: AuditExportPositionRow;
  audit_export: AuditExportRow;
  audit_keys: AuditKeyRow;
  audit_chains: AuditChainRow;
  audit_entries: AuditEntryRow;
  audit_drafts: AuditDraftRow;
}
