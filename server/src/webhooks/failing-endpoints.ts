import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { redeliverWhere } from './delivery-store.ts';
import { lockEnabledEndpoint } from './endpoint-actions.ts';

/** A delivery is made within seconds. */
const lateAfterSeconds = 60;

/** An endpoint that does not get its events. */
export interface FailingEndpoint {
  readonly id: string;
  readonly clientId: string;
  /** Deliveries that are late or are retried. */
  readonly waiting: number;
  /** Deliveries that were given up in the last 24 hours, after the last success. */
  readonly failed: number;
  /** When the first of these deliveries was queued. */
  readonly since: Date;
  /** Of their last failure: a fixed word. Null: none was attempted. */
  readonly failureReason: string | null;
  readonly responseStatus: number | null;
}

/** Whether the delivery `it` waits for more than a minute, or has failed since the last success. */
const isStuck = sql`(
  it.state = 'pending' AND it.created_at < now() - make_interval(secs => ${lateAfterSeconds})
  OR it.state = 'failed' AND it.completed_at > now() - interval '1 day' AND it.completed_at > coalesce((
    SELECT max(completed_at) FROM webhook_deliveries AS success
    WHERE success.endpoint_id = it.endpoint_id AND success.state = 'delivered'), '-infinity'))`;

/** The enabled endpoints with deliveries that wait for more than a minute or have failed since the last success. */
export async function listFailingEndpoints(db: Db): Promise<FailingEndpoint[]> {
  const { rows } = await sql<FailingEndpoint>`
    SELECT endpoint.id, client_id AS "clientId", stuck.*
    FROM webhook_endpoints AS endpoint, LATERAL (
      SELECT count(*) FILTER (WHERE it.state = 'pending')::int AS waiting,
        count(*) FILTER (WHERE it.state = 'failed')::int AS failed, min(it.created_at) AS since,
        (array_agg(it.failure_reason ORDER BY it.last_attempt_at DESC NULLS LAST))[1] AS "failureReason",
        (array_agg(it.response_status ORDER BY it.last_attempt_at DESC NULLS LAST))[1] AS "responseStatus"
      FROM webhook_deliveries AS it
      WHERE it.endpoint_id = endpoint.id AND ${isStuck}) AS stuck
    WHERE disabled_reason IS NULL AND waiting + failed > 0 ORDER BY since`.execute(db);
  return rows;
}

/**
 * Delivers now what an endpoint did not get: what `listFailingEndpoints` counts. Returns whether there is any.
 *
 * @throws Problem `webhook_endpoint_not_found`, `webhook_endpoint_disabled`
 */
export async function redeliverStuck(tx: Tx, endpointId: string): Promise<boolean> {
  await lockEnabledEndpoint(tx, endpointId);
  return (await redeliverWhere(tx, sql`it.endpoint_id = ${endpointId} AND ${isStuck}`)).length > 0;
}

/** An endpoint that takes nothing: the attempts of more than a minute have failed, and none has succeeded since. */
export interface SilentEndpoint {
  readonly id: string;
  readonly clientId: string;
  /** When the first of the deliveries that wait was created. */
  readonly since: Date;
}

/** The enabled endpoints that take nothing. Those of which single deliveries fail are not among them. */
export async function listSilentEndpoints(db: Db | Tx): Promise<SilentEndpoint[]> {
  const { rows } = await sql<SilentEndpoint>`
    SELECT endpoint.id, client_id AS "clientId", since
    FROM webhook_endpoints AS endpoint JOIN (
      SELECT endpoint_id, min(created_at) AS since, max(last_attempt_at) AS last_attempt_at FROM webhook_deliveries
      WHERE state = 'pending' AND failures > 0 AND created_at < now() - make_interval(secs => ${lateAfterSeconds})
      GROUP BY endpoint_id) AS waiting ON waiting.endpoint_id = endpoint.id
    WHERE disabled_reason IS NULL AND NOT EXISTS (
      SELECT FROM webhook_deliveries AS success
      WHERE success.endpoint_id = endpoint.id AND success.state = 'delivered'
        AND success.completed_at > waiting.last_attempt_at)
    ORDER BY since`.execute(db);
  return rows;
}
