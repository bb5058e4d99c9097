import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { isUuid } from '../identifiers/uuid.ts';

/** An endpoint as an operator sees it: without its URL and secrets, which are encrypted. */
export interface EndpointSummary {
  readonly id: string;
  readonly clientId: string;
  /** `null`: all. */
  readonly eventTypes: readonly string[] | null;
  /** `null`: enabled. */
  readonly disabledReason: string | null;
  readonly pending: number;
  /** Number of failed deliveries that are still stored. */
  readonly failed: number;
  readonly oldestPendingSeconds: number;
  /** Among the deliveries that are still stored. `null`: none. */
  readonly lastDeliveredAt: Date | null;
}

/** All endpoints, sorted by client and id. */
export function summarizeEndpoints(db: Db): Promise<EndpointSummary[]> {
  return summarize(db, sql`true`);
}

/** The endpoint with this id, if there is one. */
export async function summarizeEndpoint(db: Db, id: string): Promise<EndpointSummary | undefined> {
  return isUuid(id) ? (await summarize(db, sql`endpoint.id = ${id}`))[0] : undefined;
}

async function summarize(db: Db, condition: RawBuilder<unknown>): Promise<EndpointSummary[]> {
  const { rows } = await sql<EndpointSummary>`
    SELECT endpoint.id, client_id AS "clientId", event_types AS "eventTypes", disabled_reason AS "disabledReason",
      (SELECT count(*)::int FROM webhook_deliveries AS it WHERE it.endpoint_id = endpoint.id AND state = 'pending') AS pending,
      (SELECT count(*)::int FROM webhook_deliveries AS it WHERE it.endpoint_id = endpoint.id AND state = 'failed') AS failed,
      (SELECT coalesce(floor(extract(epoch FROM now() - min(created_at))), 0)::int FROM webhook_deliveries AS it
        WHERE it.endpoint_id = endpoint.id AND state = 'pending') AS "oldestPendingSeconds",
      (SELECT max(completed_at) FROM webhook_deliveries AS it
        WHERE it.endpoint_id = endpoint.id AND state = 'delivered') AS "lastDeliveredAt"
    FROM webhook_endpoints AS endpoint WHERE ${condition} ORDER BY client_id, endpoint.id`.execute(db);
  return rows;
}

/** The endpoint of a delivery. */
export async function endpointOf(db: Db | Tx, deliveryId: string): Promise<string | undefined> {
  if (!isUuid(deliveryId)) return undefined;
  const row = await db
    .selectFrom('webhook_deliveries')
    .select('endpoint_id')
    .where('id', '=', deliveryId)
    .executeTakeFirst();
  return row?.endpoint_id;
}
