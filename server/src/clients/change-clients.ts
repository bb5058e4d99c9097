import { sql } from 'kysely';
import type { ClientFacts } from '../config/schema.ts';
import type { Tx } from '../db/kysely.ts';
import { hashOfSecret } from './client-secret.ts';

/** Which client to change. `version`: only if it has not changed since. */
export interface ClientVersion {
  readonly id: string;
  readonly version?: number | undefined;
}

/** Why a client was not changed. `overlap`: a further rotation would end a secret that is still valid. */
export type Rejection = 'taken' | 'unknown' | 'revoked' | 'outdated' | 'overlap';

/** Creates a client. An id exists once, also after the client was revoked. */
export async function insertClient(tx: Tx, facts: ClientFacts, secret: string): Promise<Rejection | undefined> {
  const { id, name = id, scopes, grants, return_urls = [] } = facts;
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('clients')
    .values({ id, name, scopes, grants: JSON.stringify(grants), return_urls, secret_hash: hashOfSecret(secret) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== 1n) return 'taken';
  await reviseClients(tx);
  return undefined;
}

/** Changes the given facts of a client. */
export async function updateClient(
  tx: Tx,
  target: ClientVersion,
  { name, scopes, grants, return_urls }: Partial<Omit<ClientFacts, 'id'>>,
): Promise<Rejection | undefined> {
  const rejection = await lockClient(tx, target);
  if (rejection) return rejection;
  await tx
    .updateTable('clients')
    .set({
      ...(name !== undefined && { name }),
      ...(scopes && { scopes }),
      ...(grants && { grants: JSON.stringify(grants) }),
      ...(return_urls && { return_urls }),
      version: sql`version + 1`,
    })
    .where('id', '=', target.id)
    .execute();
  return reviseClients(tx);
}

interface Rotation {
  readonly secret: string;
  readonly overlapHours: number;
  /** Whether a secret that is valid since the last rotation may end at once. */
  readonly mayEndPrevious: boolean;
}

/**
 * Gives a client a new secret. The previous one ends after the overlap, and the one before it at once. So at most two are
 * valid.
 */
export async function rotateSecret(
  tx: Tx,
  target: ClientVersion,
  { secret, overlapHours, mayEndPrevious }: Rotation,
): Promise<Rejection | undefined> {
  const rejection = await lockClient(tx, target);
  if (rejection) return rejection;
  if (!mayEndPrevious && (await hasPreviousSecret(tx, target))) return 'overlap';
  const hasOverlap = overlapHours > 0;
  await sql`
    UPDATE clients SET secret_hash = ${hashOfSecret(secret)}, secret_created_at = now(), version = version + 1,
      previous_secret_hash = CASE WHEN ${hasOverlap} THEN secret_hash END,
      previous_secret_created_at = CASE WHEN ${hasOverlap} THEN secret_created_at END,
      previous_secret_expires_at = CASE WHEN ${hasOverlap} THEN now() + make_interval(hours => ${overlapHours}::integer) END
    WHERE id = ${target.id}`.execute(tx);
  return reviseClients(tx);
}

async function hasPreviousSecret(tx: Tx, { id }: ClientVersion): Promise<boolean> {
  const found = await tx
    .selectFrom('clients')
    .select('id')
    .where('id', '=', id)
    .where('previous_secret_expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
  return found !== undefined;
}

/** Ends a client and its secrets for good. */
export async function revokeClient(tx: Tx, target: ClientVersion): Promise<Rejection | undefined> {
  const rejection = await lockClient(tx, target);
  if (rejection) return rejection;
  await tx
    .updateTable('clients')
    .set({
      revoked_at: sql<Date>`now()`,
      secret_hash: null,
      secret_created_at: null,
      previous_secret_hash: null,
      previous_secret_created_at: null,
      previous_secret_expires_at: null,
      version: sql`version + 1`,
    })
    .where('id', '=', target.id)
    .execute();
  return reviseClients(tx);
}

/** Changes of a client follow each other. */
async function lockClient(tx: Tx, { id, version }: ClientVersion): Promise<Rejection | undefined> {
  const found = await tx
    .selectFrom('clients')
    .select(['version', 'revoked_at'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!found) return 'unknown';
  if (found.revoked_at) return 'revoked';
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
