import { type RawBuilder, sql } from 'kysely';
import type { RefreshableClients } from '../clients/client-registry.ts';
import { clientsNow } from '../clients/configured-grants.ts';
import { isGranted } from './may-see.ts';

/**
 * CTEs that create a delivery of each event of `published` for each endpoint that wants it, for `publishEvents`. Each Subscription
 * counts its events, also while it is disabled: its client can ask for those that it was not sent.
 *
 * The endpoints are locked, so that none of them is deleted before the deliveries are stored. One that is being changed does
 * not delay the others: if it is disabled now, its deliveries end when it is enabled.
 */
export function fanOut(clients: Pick<RefreshableClients, 'configured'>): RawBuilder<unknown> {
  return sql`
    receivers AS MATERIALIZED (
      SELECT id, client_id, event_types, emr, care_unit_id, event_filter, disabled_reason FROM webhook_endpoints
      WHERE (disabled_reason IS NULL OR sealed_subscription IS NOT NULL) AND coalesce(ends_at > now(), true)
        AND EXISTS (SELECT FROM published) FOR KEY SHARE),
    wanted (endpoint_id, event_id, event_position, subject, is_counted) AS MATERIALIZED (
      ${wanted(clients, sql.table('published'), sql.table('receivers'))}),
    delivered AS (
      INSERT INTO webhook_deliveries (endpoint_id, event_id, event_position, subject)
      SELECT endpoint_id, event_id, event_position, wanted.subject FROM wanted JOIN receivers ON receivers.id = endpoint_id
      WHERE disabled_reason IS NULL),
    numbered AS MATERIALIZED (
      SELECT endpoint_id, event_id, events + row_number() OVER (PARTITION BY endpoint_id ORDER BY event_position) AS number
      FROM wanted JOIN subscription_counts USING (endpoint_id) WHERE is_counted),
    noted AS (
      INSERT INTO subscription_events (endpoint_id, event_id, number) SELECT endpoint_id, event_id, number FROM numbered),
    counted_events AS (
      UPDATE subscription_counts SET events = last.number
      FROM (SELECT endpoint_id, max(number) AS number FROM numbered GROUP BY endpoint_id) AS last
      WHERE last.endpoint_id = subscription_counts.endpoint_id)`;
}

/**
 * A query for what `webhook_deliveries` needs, and whether a Subscription counts it: each of `events` for each of `receivers` that wants it, by its own filter and
 * the grants that its client has now, in the database or in the file of any gateway. What this process knows can be older.
 *
 * @param events with the columns of `StoredEvent`
 * @param receivers with `id`, `client_id`, `event_types`, `emr`, `care_unit_id` and `event_filter`
 */
export function wanted(
  clients: Pick<RefreshableClients, 'configured'>,
  events: RawBuilder<unknown>,
  receivers: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    WITH permitted AS MATERIALIZED (
      SELECT receiver.id, client_id, event_types, receiver.emr, care_unit_id, event_filter, grants
      FROM ${receivers} AS receiver JOIN (${clientsNow(clients.configured())}) AS client ON client.id = receiver.client_id
      WHERE 'webhooks:manage' = ANY(scopes))
    SELECT DISTINCT permitted.id, event.id, event.position, ${orderedBy}, event.endpoint_id IS NULL
    FROM ${events} AS event JOIN permitted ON CASE
      WHEN event.endpoint_id IS NOT NULL THEN event.endpoint_id = permitted.id
        AND (permitted.emr IS NULL OR ${isGranted(sql.ref('permitted.emr'), sql.ref('permitted.care_unit_id'))})
      ELSE coalesce(event.type = ANY(event_types), true) AND coalesce(event.client_id = permitted.client_id, true)
        AND ${isGranted(sql.ref('event.emr'), sql.ref('event.care_unit_id'))} AND ${isOfSubscription} END
    ORDER BY event.position`;
}

/** Whether `event` is what a Subscription asks for, of its care unit: also one that has left its resource. No other endpoint has a care unit. */
const isOfSubscription = sql<boolean>`
  coalesce(permitted.emr = event.emr AND permitted.care_unit_id = event.care_unit_id, permitted.emr IS NULL)
  AND coalesce(event_filter -> 'statuses' ? (event.data ->> 'status'), true)
  AND (event_filter -> 'resource_ids' IS NULL OR event_filter -> 'resource_ids' ? (event.data ->> 'resource_id')
    OR event_filter -> 'resource_ids' ? (event.data #>> '{previous,resource_id}'))`;

/** Deliveries with the same text are made in order: those of an appointment, and those about the availability of an EHR. */
const orderedBy = sql<string | null>`
  CASE WHEN event.subject IS NOT NULL THEN event.emr || ' ' || event.subject WHEN event.type LIKE 'emr.%' THEN event.emr END`;
