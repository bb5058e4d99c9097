import { hash, randomUUID } from 'node:crypto';
import { type Selectable, sql, type UpdateObject } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { DisabledReason, WebhookTables } from '../db/tables/webhooks.ts';
import { isUuid } from '../identifiers/uuid.ts';
import { addressOf } from '../log/connection-fault.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { prove } from '../secrets/proofs.ts';
import type { Endpoint, PreviousSecret } from './endpoint.ts';
import { factsOfEndpoint, isProvenEndpoint } from './endpoint-proof.ts';
import { changedColumns, type NewSubscription, openSubscription, subscriptionColumns } from './subscription-columns.ts';

export type EndpointRow = Omit<
  Selectable<WebhookTables['webhook_endpoints']>,
  'replay_after' | 'replays_started_at' | 'paused_until' | 'next_heartbeat_at' | 'heartbeat_id'
> & {
  /** By the clock of the database. */
  readonly read_at: Date;
};

/** The encryption context of a column of an endpoint. */
const contextOf = (id: string, column: Column) => `webhook endpoint ${id} ${column}`;
type Column = UrlColumn | 'secret' | 'earlier secrets';
type UrlColumn = 'url' | 'subscription url';

/** Versions that know no Subscriptions cannot decrypt the URL of one, and send nothing to it. */
export function sealUrl(keys: KeyRing, id: string, url: string, column: UrlColumn = 'url'): Buffer {
  return keys.seal('webhook', url, contextOf(id, column));
}

export function sealSecret(keys: KeyRing, id: string, secret: string): Buffer {
  return keys.seal('webhook', secret, contextOf(id, 'secret'));
}

/** The columns with the previous secrets, the newest first. */
export function sealPrevious(keys: KeyRing, id: string, [previous, ...earlier]: readonly PreviousSecret[]) {
  const list: EarlierSecrets = earlier.map((it) => ({ secret: it.secret, expires_at: it.expiresAt.toISOString() }));
  return {
    sealed_previous_secret: previous ? sealSecret(keys, id, previous.secret) : null,
    previous_secret_expires_at: previous?.expiresAt ?? null,
    sealed_earlier_secrets:
      list.length > 0 ? keys.seal('webhook', JSON.stringify(list), contextOf(id, 'earlier secrets')) : null,
  };
}

type EarlierSecrets = readonly { readonly secret: string; readonly expires_at: string }[];

/** Those that are still valid, and can be decrypted. */
function openPrevious(keys: KeyRing, row: EndpointRow): PreviousSecret[] {
  const { id, sealed_previous_secret: sealed, previous_secret_expires_at: expiresAt, read_at } = row;
  const secret = sealed && keys.open('webhook', sealed, contextOf(id, 'secret'));
  const list =
    row.sealed_earlier_secrets && keys.open('webhook', row.sealed_earlier_secrets, contextOf(id, 'earlier secrets'));
  const earlier: EarlierSecrets = list ? JSON.parse(list) : [];
  return [
    ...(secret && expiresAt ? [{ secret, expiresAt }] : []),
    ...earlier.map((it) => ({ secret: it.secret, expiresAt: new Date(it.expires_at) })),
  ].filter((it) => it.expiresAt > read_at);
}

/**
 * Returns `undefined` if no gateway has made it for its client, or it was encrypted with an unknown secret key, such as one that was
 * lost and retired.
 */
export function openEndpoint(keys: KeyRing, row: EndpointRow): Endpoint | undefined {
  if (!isProvenEndpoint(keys, row)) return undefined;
  const open = (sealed: Buffer, column: Column) => keys.open('webhook', sealed, contextOf(row.id, column));
  const url = open(row.sealed_url, row.sealed_subscription ? 'subscription url' : 'url');
  const secret = open(row.sealed_secret, 'secret');
  const subscription = row.sealed_subscription === null ? null : openSubscription(keys, row);
  if (url === undefined || secret === undefined || subscription === undefined) return undefined;
  return {
    id: row.id,
    clientId: row.client_id,
    url,
    secret,
    previousSecrets: openPrevious(keys, row),
    eventTypes: row.event_types,
    disabledReason: row.disabled_reason,
    isReplaying: row.replay_until !== null,
    createdAt: row.created_at,
    ...(subscription && { subscription }),
  };
}

export function selectEndpoints(db: Db | Tx) {
  return db
    .selectFrom('webhook_endpoints')
    .select(['id', 'client_id', 'sealed_url', 'sealed_secret', 'sealed_previous_secret', 'previous_secret_expires_at'])
    .select(['sealed_proof', 'event_types', 'disabled_reason', 'replay_until', 'created_at'])
    .select(subscriptionColumns)
    .select(['sealed_earlier_secrets', sql<Date>`now()`.as('read_at')]);
}

/** Skips endpoints that are not proven or cannot be decrypted, so that the others still get their deliveries. */
function openAll(keys: KeyRing, rows: readonly EndpointRow[]): Endpoint[] {
  return rows.flatMap((row) => openEndpoint(keys, row) ?? []);
}

/** Endpoints of a client, sorted by id. */
export async function listEndpoints(
  db: Db,
  keys: KeyRing,
  clientId: string,
  after: string | undefined,
  limit: number,
): Promise<Endpoint[]> {
  const rows = await selectEndpoints(db)
    .where('client_id', '=', clientId)
    .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
    .orderBy('id')
    .limit(limit)
    .execute();
  return openAll(keys, rows);
}

/** @param clientId `undefined`: of any client */
export async function findEndpoint(
  db: Db | Tx,
  keys: KeyRing,
  clientId: string | undefined,
  id: string,
): Promise<Endpoint | undefined> {
  if (!isUuid(id)) return undefined;
  const row = await selectEndpoints(db)
    .$if(clientId !== undefined, (query) => query.where('client_id', '=', clientId ?? ''))
    .where('id', '=', id)
    .executeTakeFirst();
  return row && openEndpoint(keys, row);
}

/** Host and port of all endpoints that can be decrypted, by id. The rest of a URL can contain a token. */
export async function readAddresses(db: Db, keys: KeyRing): Promise<ReadonlyMap<string, string>> {
  const endpoints = openAll(keys, await selectEndpoints(db).execute());
  return new Map(endpoints.map(({ id, url }) => [id, addressOf(url)]));
}

/** What changes when the secret of an endpoint is rotated. `undefined`: there is no such endpoint. */
export async function readSecretVersion(db: Db | Tx, id: string): Promise<string | undefined> {
  const query = db.selectFrom('webhook_endpoints').select('sealed_secret').where('id', '=', id);
  return versionOf(await query.executeTakeFirst());
}

/** As `readSecretVersion`. Nobody else rotates it until the transaction ends. */
export async function lockSecretVersion(tx: Tx, id: string): Promise<string | undefined> {
  const query = tx.selectFrom('webhook_endpoints').select('sealed_secret').where('id', '=', id).forNoKeyUpdate();
  return versionOf(await query.executeTakeFirst());
}

function versionOf(row: { readonly sealed_secret: Buffer } | undefined): string | undefined {
  return row && hash('sha256', row.sealed_secret, 'base64url');
}

/** Whether no endpoint has this id. Until the transaction ends, nobody else who asks gets it. */
export async function claimId(tx: Tx, id: string): Promise<boolean> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`webhook endpoint ${id}`}, 0))`.execute(tx);
  const row = await tx.selectFrom('webhook_endpoints').select('id').where('id', '=', id).executeTakeFirst();
  return row === undefined;
}

/** A condition on `webhook_endpoints`. */
export const hasDueDeliveries = sql<boolean>`
  disabled_reason IS NULL AND coalesce(paused_until <= now(), true) AND EXISTS (
    SELECT FROM webhook_deliveries AS delivery
    WHERE delivery.endpoint_id = webhook_endpoints.id AND delivery.state = 'pending' AND delivery.next_attempt_at <= now())`;

/** Endpoints with deliveries that are due: all, or the one with this id. */
export async function endpointsWithDue(db: Db, keys: KeyRing, id?: string): Promise<Endpoint[]> {
  const rows = await selectEndpoints(db)
    .where(hasDueDeliveries)
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .execute();
  return openAll(keys, rows);
}

interface NewEndpoint {
  /** Default: a new one. */
  readonly id?: string | undefined;
  readonly clientId: string;
  readonly url: string;
  readonly secret: string;
  readonly eventTypes: readonly string[] | null;
  readonly subscription?: NewSubscription | undefined;
}

/** Returns `undefined` if the client has `most` endpoints already. */
export async function insertEndpoint(
  tx: Tx,
  keys: KeyRing,
  { id = randomUUID(), clientId, url, secret, eventTypes, subscription }: NewEndpoint,
  most: number,
): Promise<Endpoint | undefined> {
  // Two requests at once could otherwise exceed the limit.
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`webhook endpoints ${clientId}`}, 0))`.execute(tx);
  const { count } = await tx
    .selectFrom('webhook_endpoints')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow();
  if (count >= most) return undefined;
  await tx
    .insertInto('webhook_endpoints')
    .values({
      id,
      client_id: clientId,
      sealed_url: sealUrl(keys, id, url, subscription && 'subscription url'),
      sealed_secret: sealSecret(keys, id, secret),
      sealed_proof: prove(keys, 'webhook endpoint', factsOfEndpoint({ id, client_id: clientId })),
      event_types: eventTypes && [...eventTypes],
      ...(subscription && {
        ...{ emr: subscription.emr, care_unit_id: subscription.careUnitId },
        ...changedColumns(keys, id, subscription),
      }),
    })
    .execute();
  if (subscription) await tx.insertInto('subscription_counts').values({ endpoint_id: id }).execute();
  return findEndpoint(tx, keys, clientId, id);
}

/**
 * Proves that an endpoint belongs to this client, which somebody has seen. Returns `false` if it belongs to another one, or there is
 * no such endpoint.
 */
export async function acceptEndpoint(tx: Tx, keys: KeyRing, id: string, clientId: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { numUpdatedRows } = await tx
    .updateTable('webhook_endpoints')
    .set({ sealed_proof: prove(keys, 'webhook endpoint', factsOfEndpoint({ id, client_id: clientId })) })
    .where('id', '=', id)
    .where('client_id', '=', clientId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function updateEndpoint(
  tx: Tx,
  id: string,
  values: UpdateObject<WebhookTables, 'webhook_endpoints'>,
): Promise<void> {
  if (Object.keys(values).length === 0) return;
  await tx.updateTable('webhook_endpoints').set(values).where('id', '=', id).execute();
}

/** Locks an endpoint until the transaction ends: nobody else changes or deletes it. Deliveries to it go on. */
export function lockRow(tx: Tx, id: string): Promise<LockedRow | undefined> {
  return tx
    .selectFrom('webhook_endpoints')
    .select(['disabled_reason as disabledReason', 'event_types as eventTypes'])
    .select(sql<boolean>`sealed_subscription IS NOT NULL`.as('isSubscription'))
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export interface LockedRow {
  readonly disabledReason: DisabledReason | null;
  readonly eventTypes: readonly string[] | null;
  readonly isSubscription: boolean;
}
