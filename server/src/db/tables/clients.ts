import type { ColumnType, Generated } from 'kysely';

type GrantsInRow = readonly { readonly emr: string; readonly care_units?: readonly string[] }[];

type EarlierSecretsInRow = readonly {
  readonly hash: string;
  readonly created_at: string;
  readonly expires_at: string;
}[];

/** Public keys only. */
interface KeysInRow {
  readonly keys: readonly { readonly kty: string; readonly kid: string }[];
}

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
  /** Written as JSON text. */
  jwks: ColumnType<KeysInRow | null, string | null | undefined, string | null>;
  jwks_uri: Generated<string | null>;
  /** Written as JSON text. */
  budgets: ColumnType<Readonly<Record<string, number>>, string | undefined, string>;
  created_at: Generated<Date>;
  revoked_at: Generated<Date | null>;
  sealed_proof: Generated<Buffer | null>;
}

interface ClientsRevisionRow {
  is_only: Generated<boolean>;
  revision: string;
}

interface UsedAssertionRow {
  client_id: string;
  jti_hash: Buffer;
  request_id: string;
  expires_at: Date;
}

interface ConfiguredGrantsRow {
  revision: string;
  /** Written as JSON text. */
  clients: ColumnType<readonly object[], string, string>;
  seen_at: Generated<Date>;
}

export interface ClientTables {
  configured_grants: ConfiguredGrantsRow;
  clients: ClientRow;
  clients_revision: ClientsRevisionRow;
  used_assertions: UsedAssertionRow;
}
