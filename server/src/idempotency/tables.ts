import type { Generated } from 'kysely';

interface IdempotencyKeyRow {
  client_id: string;
  key_hash: Buffer;
  request_hash: Buffer;
  emr: string;
  care_unit_id: string;
  operation_id: string;
  state: 'running' | 'open' | 'done';
  owner: string;
  sealed_answer: Buffer | null;
  created_at: Generated<Date>;
}

export interface IdempotencyTables {
  idempotency_keys: IdempotencyKeyRow;
}
