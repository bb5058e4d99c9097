import type { Generated } from 'kysely';

interface OperationRow {
  id: string;
  client_id: string;
  key_hash: Buffer | null;
  request_hash: Buffer | null;
  emr: string;
  care_unit_id: string;
  kind: Generated<string | null>;
  state: Generated<'pending' | 'undoing' | 'done'>;
  sealed_plan: Generated<Buffer | null>;
  sealed_answer: Generated<Buffer | null>;
  lease_token: Generated<string | null>;
  leased_until: Generated<Date | null>;
  attempt: Generated<number>;
  failures: Generated<number>;
  failure: Generated<string | null>;
  next_attempt_at: Generated<Date | null>;
  asked_at: Generated<Date | null>;
  last_asked_at: Generated<Date | null>;
  outcome_reported: Generated<boolean>;
  patient_hashes: Generated<Buffer[]>;
  expires_at: Generated<Date | null>;
  parked_at: Generated<Date | null>;
  created_at: Generated<Date>;
}

export interface OperationTables {
  operations: OperationRow;
}
