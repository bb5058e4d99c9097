import type { Generated } from 'kysely';

interface OperationRow {
  id: string;
  client_id: string;
  idempotency_key_hash: Buffer | null;
  request_hash: Buffer | null;
  emr: string;
  care_unit_id: string;
  kind: Generated<string | null>;
  state: Generated<'pending' | 'compensating' | 'done'>;
  sealed_plan: Generated<Buffer | null>;
  sealed_response: Generated<Buffer | null>;
  lease_token: Generated<string | null>;
  lease_expires_at: Generated<Date | null>;
  attempt: Generated<number>;
  consecutive_failures: Generated<number>;
  last_failure: Generated<string | null>;
  next_attempt_at: Generated<Date | null>;
  first_sent_at: Generated<Date | null>;
  last_sent_at: Generated<Date | null>;
  reported_unknown: Generated<boolean>;
  had_effect: Generated<boolean>;
  patient_hashes: Generated<Buffer[]>;
  expires_at: Generated<Date | null>;
  takes_from: Generated<string | null>;
  takes_until: Generated<string | null>;
  suspended_at: Generated<Date | null>;
  created_at: Generated<Date>;
}

export interface OperationTables {
  operations: OperationRow;
}
