import type { ColumnType, Generated } from 'kysely';

type GrantsInRow = readonly { readonly emr: string; readonly care_units?: readonly string[] }[];

type EarlierSecretsInRow = readonly {
  readonly hash: string;
  readonly created_at: string;
  readonly expires_at: string;
}[];

interface ClientRow {
  id: string;
  name: string;
  scopes: readonly string[];
  /** Written as JSON text. */
  grants: ColumnType<GrantsInRow, string, string>;
  return_urls: readonly string[];
  version: Generated<number>;
  secret_hash: Buffer | null;
  secret_created_at: Generated<Date | null>;
  previous_secret_hash: Generated<Buffer | null>;
  previous_secret_created_at: Generated<Date | null>;
  previous_secret_expires_at: Generated<Date | null>;
  /** Written as JSON text. */
  earlier_secrets: ColumnType<EarlierSecretsInRow, string | undefined, string>;
  created_at: Generated<Date>;
  revoked_at: Generated<Date | null>;
}

interface ClientsRevisionRow {
  is_only: Generated<boolean>;
  revision: string;
}

export interface ClientTables {
  clients: ClientRow;
  clients_revision: ClientsRevisionRow;
}
