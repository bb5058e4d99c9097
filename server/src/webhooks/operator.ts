import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { isUuid } from '../identifiers/uuid.ts';
import { failPending } from './settle-delivery.ts';

/** An endpoint as an operator sees it: without its URL and secrets, which are encrypted. */
export interface EndpointSummary {
  readonly id: string;
  readonly clientId: string;
  /** `null`: all. */
  readonly eventTypes: readonly string[] | null;
  /** `null`: enabled. */
  readonly disabledReason: string | null;
  readonly pending: number;
  /** Of the deliveries that are still stored. */
  readonly failed: number;
  readonly oldestPendingSeconds: number;
}

/** All endpoints, sorted by client and id. */
export async function summarizeEndpoints(db: Db): Promise<EndpointSummary[]> {
  const { rows } = await sql<EndpointSummary>`
    SELECT endpoint.id, client_id AS "clientId", event_types AS "eventTypes", disabled_reason AS "disabledReason",
      (SELECT count(*)::int FROM webhook_deliveries AS it WHERE it.endpoint_id = endpoint.id AND state = 'pending') AS pending,
      (SELECT count(*)::int FROM webhook_deliveries AS it WHERE it.endpoint_id = endpoint.id AND state = 'failed') AS failed,
      (SELECT coalesce(floor(extract(epoch FROM now() - min(created_at))), 0)::int FROM webhook_deliveries AS it
        WHERE it.endpoint_id = endpoint.id AND state = 'pending') AS "oldestPendingSeconds"
    FROM webhook_endpoints AS endpoint ORDER BY client_id, endpoint.id`.execute(db);
  return rows;
}

/** Whether an enabled endpoint has this id. */
export async function isEnabled(db: Db | Tx, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const row = await db
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('id', '=', id)
    .where('disabled_reason', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** The endpoint of a delivery, if it is enabled. */
export async function endpointOf(db: Db | Tx, deliveryId: string): Promise<string | undefined> {
  if (!isUuid(deliveryId)) return undefined;
  const row = await db
    .selectFrom('webhook_deliveries')
    .select('endpoint_id')
    .where('id', '=', deliveryId)
    .executeTakeFirst();
  return row && (await isEnabled(db, row.endpoint_id)) ? row.endpoint_id : undefined;
}

/** Deletes any client's endpoint, with its deliveries. Returns `false` if there is none with this id. */
export async function removeEndpoint(db: Db, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { numDeletedRows } = await db.deleteFrom('webhook_endpoints').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Enables an endpoint, or disables it for its client. Returns `false` if there is none with this id. */
export async function setEnabled(tx: Tx, id: string, enabled: boolean): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { numUpdatedRows } = await tx
    .updateTable('webhook_endpoints')
    .set(enabled ? { disabled_reason: null } : { disabled_reason: 'client', replay_after: null, replay_until: null })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Disables the endpoints of a client, and ends their deliveries. */
export async function disableEndpointsOf(tx: Tx, clientId: string): Promise<void> {
  const endpoints = await tx.selectFrom('webhook_endpoints').select('id').where('client_id', '=', clientId).execute();
  for (const { id } of endpoints) {
    await setEnabled(tx, id, false);
    await failPending(tx, id);
  }
}
