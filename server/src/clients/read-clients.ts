import { sql } from 'kysely';
import { type Grant, isScope, type Scope } from '../config/schema/schema.ts';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { isProvenClient, type ProvenClientRow, provenClientColumns } from './client-proof.ts';
import { type PreviousInRow, previousColumns, previousSecrets } from './previous-secrets.ts';

/** A client that operators manage, as a gateway process keeps it in memory. */
export interface StoredClient {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly grants: readonly Grant[];
  readonly returnUrls: readonly string[];
  readonly secrets: readonly { readonly hash: Buffer; readonly expiresAt: Date | null }[];
  /** The public keys with which it signs. `undefined`: none. */
  readonly keys: ClientKeys | undefined;
  /** What is absent is that of the configuration. */
  readonly budgets?: Readonly<Record<string, number>>;
  readonly isRevoked: boolean;
  /** Whether a gateway has made it as it is. Otherwise it opens nothing. */
  readonly isProven: boolean;
}

/** Public keys, or the URL where the client publishes them. */
export type ClientKeys = { readonly jwks: PublicKeys } | { readonly uri: string };

/** A JWK Set (RFC 7517), as `keyMistakes` accepts it. */
interface PublicKeys {
  readonly keys: readonly { readonly kty: string; readonly kid: string }[];
}

/** The keys, as the configuration and the database have them. */
export function keysOf({
  jwks,
  jwks_uri,
}: {
  readonly jwks?: PublicKeys | null | undefined;
  readonly jwks_uri?: string | null | undefined;
}): ClientKeys | undefined {
  if (jwks) return { jwks };
  return jwks_uri ? { uri: jwks_uri } : undefined;
}

export interface StoredClients {
  /** Differs after each change of a client. */
  readonly revision: string;
  readonly clients: readonly StoredClient[];
}

type Row = ProvenClientRow &
  PreviousInRow & {
    readonly revision: string;
    readonly id: string | null;
  };

/** Reads all clients in one statement, so that they fit each other. Returns `undefined` if the revision is still the known one. */
export async function readClients(
  db: Db,
  keys: KeyRing,
  known: string | undefined,
): Promise<StoredClients | undefined> {
  const columns = new Set([...provenClientColumns, ...previousColumns]);
  const { rows } = await sql<Row>`
    SELECT current.revision, ${sql.join([...columns].map((it) => sql.ref(it)))}
    FROM clients_revision AS current LEFT JOIN clients ON true
    WHERE current.revision IS DISTINCT FROM ${known ?? null}::uuid`.execute(db);
  const revision = rows[0]?.revision;
  return revision === undefined ? undefined : { revision, clients: rows.flatMap((row) => toClient(keys, row)) };
}

function toClient(keys: KeyRing, row: Row): StoredClient[] {
  const { id, secret_hash } = row;
  if (id === null) return [];
  const current = secret_hash && { hash: secret_hash, expiresAt: null };
  return [
    {
      id,
      name: row.name,
      // Another version of the gateway may have scopes that this one does not know.
      scopes: row.scopes.filter(isScope),
      grants: row.grants as readonly Grant[],
      returnUrls: row.return_urls,
      secrets: [...(current ? [current] : []), ...previousSecrets(row)],
      keys: keysOf(row),
      budgets: row.budgets,
      isRevoked: row.revoked_at !== null,
      isProven: isProvenClient(keys, row),
    },
  ];
}
