import type { Generated } from 'kysely';

export type OperatorRole = 'view' | 'operate' | 'admin';

interface OperatorRow {
  id: string;
  name: string;
  role: OperatorRole;
  password_hash: string;
  sealed_totp_secret: Buffer | null;
  last_totp_step: Generated<string | null>;
  last_sign_in_at: Generated<Date | null>;
  disabled_at: Generated<Date | null>;
  created_at: Generated<Date>;
  sealed_proof: Generated<Buffer | null>;
}

interface OperatorSessionRow {
  token_hash: Buffer;
  operator_id: string | null;
  subject_hash: Generated<Buffer | null>;
  name: string;
  role: OperatorRole;
  created_at: Generated<Date>;
  last_used_at: Generated<Date>;
  expires_at: Date;
  sealed_proof: Generated<Buffer | null>;
}

interface OperatorSignInLinkRow {
  token_hash: Buffer;
  operator_id: string;
  expires_at: Date;
  sealed_proof: Generated<Buffer | null>;
}

interface FailedSignInRow {
  key_hash: Buffer;
  failures: number;
  paused_until: Date;
  last_failed_at: Generated<Date>;
}

interface OperatorActivityRow {
  id: Generated<string>;
  at: Generated<Date>;
  operator_name: string;
  action: string;
  target: string | null;
  outcome: string;
  /** Null until the row is linked. */
  chain_id: Generated<string | null>;
  position: Generated<number | null>;
  hash: Generated<Buffer | null>;
}

export interface ConsoleTables {
  operators: OperatorRow;
  operator_sessions: OperatorSessionRow;
  operator_sign_in_links: OperatorSignInLinkRow;
  failed_sign_ins: FailedSignInRow;
  operator_activity: OperatorActivityRow;
}
