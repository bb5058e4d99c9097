import { sql } from 'kysely';
import { type Grant, isScope, type Scope } from '../config/schema.ts';
import type { Db } from '../db/kysely.ts';
import { type PreviousInRow, previousColumns, previousSecrets } from './previous-secrets.ts';

/** A client that operators manage, as a gateway process keeps it in memory. */
export interface StoredClient {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly grants: readonly Grant[];
  readonly returnUrls: readonly string[];
  /** None: the client is revoked. */
  readonly secrets: readonly { readonly hash: Buffer; readonly expiresAt: Date | null }[];
}

export interface StoredClients {
  /** Differs after each change of a client. */
  readonly revision: string;
  readonly clients: readonly StoredClient[];
}

interface Row extends PreviousInRow {
  readonly revision: string;
  readonly id: string | null;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly grants: readonly Grant[];
  readonly return_urls: readonly string[];
  readonly secret_hash: Buffer | null;
}

/** Reads all clients in one statement, so that they fit each other. Returns `undefined` if the revision is still the known one. */
export async function readClients(db: Db, known: string | undefined): Promise<StoredClients | undefined> {
  const { rows } = await sql<Row>`
    SELECT current.revision, id, name, scopes, grants, return_urls, secret_hash, ${sql.join(previousColumns.map((it) => sql.ref(it)))}
    FROM clients_revision AS current LEFT JOIN clients ON true
    WHERE current.revision IS DISTINCT FROM ${known ?? null}::uuid`.execute(db);
  const revision = rows[0]?.revision;
  return revision === undefined ? undefined : { revision, clients: rows.flatMap(toClient) };
}

function toClient(row: Row): StoredClient[] {
  const { id, secret_hash } = row;
  if (id === null) return [];
  const current = secret_hash && { hash: secret_hash, expiresAt: null };
  return [
    {
      id,
      name: row.name,
      // Another version of the gateway may have scopes that this one does not know.
      scopes: row.scopes.filter(isScope),
      grants: row.grants,
      returnUrls: row.return_urls,
      secrets: current ? [current, ...previousSecrets(row)] : [],
    },
  ];
}
