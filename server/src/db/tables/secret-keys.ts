import type { Generated } from 'kysely';

interface SecretKeyRow {
  id: string;
  check_value: Buffer;
  first_used_at: Generated<Date>;
  replaced_at: Generated<Date | null>;
  retired_at: Generated<Date | null>;
}

export interface SecretKeyTables {
  secret_keys: SecretKeyRow;
}
