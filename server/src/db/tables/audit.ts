import type { Generated } from 'kysely';

export type AuditActor = 'client' | 'patient_page' | 'background';

interface AuditKeyRow {
  id: string;
  sealed_key: Buffer;
  created_at: Generated<Date>;
}

interface AuditChainRow {
  id: string;
  key_id: string;
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

interface AuditEntryRow {
  chain_id: string;
  position: number;
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
  hash: Buffer;
}

export interface AuditTables {
  audit_keys: AuditKeyRow;
  audit_chains: AuditChainRow;
  audit_entries: AuditEntryRow;
}
