import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { WebhookDeliveryState } from '../db/tables/webhooks.ts';
import { isUuid } from '../identifiers/uuid.ts';
import { isInProgress } from './claim-deliveries.ts';

/** A delivery of an event to an endpoint. */
export interface Delivery {
  readonly id: string;
  readonly sequence: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly state: WebhookDeliveryState;
  readonly attempts: number;
  readonly created_at: Date;
  readonly last_attempt_at: Date | null;
  readonly next_attempt_at: Date;
  readonly completed_at: Date | null;
  readonly response_status: number | null;
  readonly failure_reason: string | null;
}

function select(db: Db | Tx, endpointId: string) {
  return db
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('events', 'events.id', 'delivery.event_id')
    .select(['delivery.id', 'delivery.sequence', 'delivery.event_id', 'events.type as event_type', 'delivery.state'])
    .select(['delivery.attempts', 'delivery.created_at', 'delivery.last_attempt_at', 'delivery.next_attempt_at'])
    .select(['delivery.completed_at', 'delivery.response_status', 'delivery.failure_reason'])
    .where('delivery.endpoint_id', '=', endpointId);
}

/** Lists deliveries, the newest first. `before`: sequence number of the last one on the previous page. */
export function listDeliveries(
  db: Db,
  endpointId: string,
  { state, before, limit }: { state?: WebhookDeliveryState | undefined; before?: number | undefined; limit: number },
): Promise<Delivery[]> {
  return select(db, endpointId)
    .$if(state !== undefined, (query) => query.where('delivery.state', '=', state ?? 'pending'))
    .$if(before !== undefined, (query) => query.where('delivery.sequence', '<', before ?? 0))
    .orderBy('delivery.sequence', 'desc')
    .limit(limit)
    .execute();
}

/**
 * Delivers the event of a delivery again, as a new delivery. A pending one is due at once instead. Returns `undefined` if
 * the endpoint has no such delivery. The caller has locked the endpoint.
 */
export async function redeliver(tx: Tx, endpointId: string, deliveryId: string): Promise<Delivery | undefined> {
  if (!isUuid(deliveryId)) return undefined;
  const [id] = await redeliverWhere(tx, sql`it.endpoint_id = ${endpointId} AND it.id = ${deliveryId}`);
  return id === undefined ? undefined : select(tx, endpointId).where('delivery.id', '=', id).executeTakeFirst();
}

/** Delivers the events of the chosen deliveries, which are called `it`, again. Returns the ids of the deliveries. */
export async function redeliverWhere(tx: Tx, chosen: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    WITH chosen AS (
      SELECT * FROM webhook_deliveries AS it WHERE ${chosen} FOR UPDATE
    ), pending AS (
      UPDATE webhook_deliveries AS delivery SET next_attempt_at = now() FROM chosen
      WHERE delivery.endpoint_id = chosen.endpoint_id AND delivery.event_id = chosen.event_id AND delivery.state = 'pending'
        AND NOT ${isInProgress}
      RETURNING delivery.id
    ), made AS (
      INSERT INTO webhook_deliveries (endpoint_id, event_id, event_position, subject)
      SELECT DISTINCT ON (endpoint_id, event_id) endpoint_id, event_id, event_position, subject FROM chosen
      WHERE NOT EXISTS (
        SELECT FROM webhook_deliveries AS same
        WHERE same.endpoint_id = chosen.endpoint_id AND same.event_id = chosen.event_id AND same.state = 'pending')
      ORDER BY endpoint_id, event_id
      RETURNING id
    )
    SELECT id FROM made UNION ALL SELECT id FROM pending UNION ALL SELECT id FROM chosen`.execute(tx);
  return rows.map(({ id }) => id);
}
