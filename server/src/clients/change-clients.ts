import { sql } from 'kysely';
import type { ClientFacts } from '../config/schema/schema.ts';
import type { Tx } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { isProvenClient, proveClient, provenClientColumns, stateOfClient } from './client-proof.ts';
import { hashOfSecret } from './client-registry.ts';
import { earlierSecrets, mostPrevious, previousColumns, previousSecrets } from './previous-secrets.ts';

/** Which client to change. `version`: only if it has not changed since. */
export interface ClientVersion {
  readonly id: string;
  readonly version?: number | undefined;
}

/**
 * Why a client was not changed. `no_credentials`: it would have neither a secret nor keys. `unproven`: no gateway has made it as it
 * is, see `isProvenClient`.
 */
export type Rejection = 'taken' | 'unknown' | 'revoked' | 'outdated' | 'no_credentials' | 'unproven';

/** What to change. Everything else stays. */
export interface ClientChange extends Partial<Omit<ClientFacts, 'id'>> {
  /** Removes `jwks` and `jwks_uri`. */
  readonly withoutKeys?: boolean;
  /** Ends all secrets at once. */
  readonly withoutSecret?: boolean;
}

/**
 * Creates a client. An id exists once, also after the client was revoked.
 *
 * @param secret `undefined`: it has keys
 */
export async function insertClient(
  tx: Tx,
  keys: KeyRing,
  facts: ClientFacts,
  secret: string | undefined,
): Promise<Rejection | undefined> {
  const { id, name = id, scopes, grants, return_urls = [], jwks, jwks_uri, budgets = {} } = facts;
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('clients')
    .values({
      id,
      name,
      scopes,
      grants: JSON.stringify(grants),
      return_urls,
      budgets: JSON.stringify(budgets),
      ...(secret === undefined
        ? { secret_hash: null, secret_created_at: null }
        : { secret_hash: hashOfSecret(secret) }),
      ...keyColumns({ jwks, jwks_uri }),
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== 1n) return 'taken';
  await proveClient(tx, keys, id);
  await reviseClients(tx);
  return undefined;
}

/** Changes the given facts of a client. */
export async function updateClient(
  tx: Tx,
  keys: KeyRing,
  target: ClientVersion,
  { name, scopes, grants, return_urls, budgets, jwks, jwks_uri, withoutKeys, withoutSecret }: ClientChange,
): Promise<Rejection | undefined> {
  const rejection = await lockClient(tx, target, keys);
  if (rejection) return rejection;
  const newKeys = withoutKeys || jwks || jwks_uri ? keyColumns({ jwks, jwks_uri }) : undefined;
  const kept = await tx
    .selectFrom('clients')
    .select(['secret_hash', 'jwks', 'jwks_uri'])
    .where('id', '=', target.id)
    .executeTakeFirstOrThrow();
  const hasKeys = newKeys ? (newKeys.jwks ?? newKeys.jwks_uri) : (kept.jwks ?? kept.jwks_uri);
  if (!hasKeys && (withoutSecret || !kept.secret_hash)) return 'no_credentials';
  await tx
    .updateTable('clients')
    .set({
      ...(name !== undefined && { name }),
      ...(scopes && { scopes }),
      ...(grants && { grants: JSON.stringify(grants) }),
      ...(return_urls && { return_urls }),
      ...(budgets && { budgets: JSON.stringify(budgets) }),
      ...newKeys,
      ...(withoutSecret && { secret_hash: null, ...noPrevious }),
      version: sql`version + 1`,
    })
    .where('id', '=', target.id)
    .execute();
  await proveClient(tx, keys, target.id);
  return reviseClients(tx);
}

/** At most one of them. */
function keyColumns({ jwks, jwks_uri }: { [Key in 'jwks' | 'jwks_uri']: ClientFacts[Key] | undefined }) {
  return { jwks: jwks ? JSON.stringify(jwks) : null, jwks_uri: jwks_uri ?? null };
}

interface Rotation {
  readonly secret: string;
  /** 0: all previous secrets end at once, such as one that has leaked. */
  readonly overlapHours: number;
}

/**
 * Gives a client a new secret, also its first one. The previous one ends after the overlap, and those before it at their own ends: if the answer of
 * a rotation was lost, another one does not end the secret that the client has. Beyond five, the one that is replaced ends at
 * once, because it is the one that nobody may have got.
 */
export async function rotateSecret(
  tx: Tx,
  keys: KeyRing,
  target: ClientVersion,
  { secret, overlapHours }: Rotation,
): Promise<Rejection | undefined> {
  const rejection = await lockClient(tx, target, keys);
  if (rejection) return rejection;
  const row = await tx
    .selectFrom('clients')
    .select(['secret_hash', ...previousColumns, sql<Date>`now()`.as('read_at')])
    .where('id', '=', target.id)
    .executeTakeFirstOrThrow();
  const valid = previousSecrets(row).filter(({ expiresAt }) => expiresAt > row.read_at);
  await tx
    .updateTable('clients')
    .set({
      secret_hash: hashOfSecret(secret),
      secret_created_at: sql<Date>`now()`,
      version: sql`version + 1`,
      ...(overlapHours === 0 && noPrevious),
      ...(overlapHours > 0 &&
        row.secret_hash &&
        valid.length < mostPrevious && {
          previous_secret_hash: sql<Buffer>`secret_hash`,
          previous_secret_created_at: sql<Date>`secret_created_at`,
          previous_secret_expires_at: sql<Date>`now() + make_interval(hours => ${overlapHours}::integer)`,
          earlier_secrets: earlierSecrets(valid),
        }),
    })
    .where('id', '=', target.id)
    .execute();
  await proveClient(tx, keys, target.id);
  return reviseClients(tx);
}

const noPrevious = {
  previous_secret_hash: null,
  previous_secret_created_at: null,
  previous_secret_expires_at: null,
  earlier_secrets: '[]',
} as const;

/** Ends a client and its secrets for good, also one that is not proven. A revoked client needs no proof. */
export async function revokeClient(tx: Tx, target: ClientVersion): Promise<Rejection | undefined> {
  const rejection = await lockClient(tx, target);
  if (rejection) return rejection;
  await tx
    .updateTable('clients')
    .set({
      revoked_at: sql<Date>`now()`,
      secret_hash: null,
      ...noPrevious,
      jwks: null,
      jwks_uri: null,
      sealed_proof: null,
      version: sql`version + 1`,
    })
    .where('id', '=', target.id)
    .execute();
  return reviseClients(tx);
}

/**
 * Proves a client that was changed by somebody else than a gateway of this version.
 *
 * @param state what an operator has seen, see `stateOfClient`
 */
export async function acceptClient(
  tx: Tx,
  keys: KeyRing,
  { id, state }: { readonly id: string; readonly state: string },
): Promise<Rejection | undefined> {
  const rejection = await lockClient(tx, { id });
  if (rejection) return rejection;
  const row = await tx.selectFrom('clients').select(provenClientColumns).where('id', '=', id).executeTakeFirstOrThrow();
  if (stateOfClient(row) !== state) return 'outdated';
  await proveClient(tx, keys, id);
  return reviseClients(tx);
}

/**
 * Changes of a client follow each other.
 *
 * @param keys absent: the client may be unproven
 */
async function lockClient(tx: Tx, { id, version }: ClientVersion, keys?: KeyRing): Promise<Rejection | undefined> {
  const found = await tx
    .selectFrom('clients')
    .select(provenClientColumns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!found) return 'unknown';
  if (found.revoked_at) return 'revoked';
  if (keys && !isProvenClient(keys, found)) return 'unproven';
  return version === undefined || version === found.version ? undefined : 'outdated';
}

/**
 * Tells the gateways, when the transaction commits, to read the clients again. The revision is random, because a failover
 * to a standby that lacks the last commits would set a counter back.
 */
async function reviseClients(tx: Tx): Promise<undefined> {
  await sql`
    INSERT INTO clients_revision (revision) VALUES (gen_random_uuid())
    ON CONFLICT (is_only) DO UPDATE SET revision = excluded.revision`.execute(tx);
}
