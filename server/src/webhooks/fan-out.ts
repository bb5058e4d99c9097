import { type RawBuilder, sql } from 'kysely';
import type { ClientRegistry, RefreshableClients } from '../clients/client-registry.ts';
import { clientsNow } from '../clients/configured-grants.ts';
import type { Db } from '../db/kysely.ts';
import type { StoredEvent } from '../events/stored-event.ts';

/**
 * A statement that creates a delivery of each event of `published` for each endpoint that wants it, for `publishEvents`.
 *
 * The endpoints are locked, so that none of them is deleted before the deliveries are stored. One that is being changed does
 * not delay the others: if it is disabled now, its deliveries end when it is enabled.
 */
export function fanOut(clients: Pick<RefreshableClients, 'configured'>): RawBuilder<unknown> {
  return sql`
    WITH receivers AS MATERIALIZED (
      SELECT id, client_id, event_types FROM webhook_endpoints WHERE disabled_reason IS NULL
        AND EXISTS (SELECT FROM published) FOR KEY SHARE)
    INSERT INTO webhook_deliveries (endpoint_id, event_id, event_position, subject)
    ${wanted(clients, sql.table('published'), sql.table('receivers'))}`;
}

/**
 * A query for what `webhook_deliveries` needs: each of `events` for each of `receivers` that wants it, by its own filter and
 * the grants that its client has now, in the database or in the file of any gateway. What this process knows can be older.
 *
 * @param events with the columns of `StoredEvent`
 * @param receivers with `id`, `client_id` and `event_types`
 */
export function wanted(
  clients: Pick<RefreshableClients, 'configured'>,
  events: RawBuilder<unknown>,
  receivers: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    WITH permitted AS MATERIALIZED (
      SELECT receiver.id, client_id, event_types, grants
      FROM ${receivers} AS receiver JOIN (${clientsNow(clients.configured())}) AS client ON client.id = receiver.client_id
      WHERE 'webhooks:manage' = ANY(scopes))
    SELECT DISTINCT permitted.id, event.id, event.position, ${orderedBy}
    FROM ${events} AS event JOIN permitted ON CASE
      WHEN event.endpoint_id IS NOT NULL THEN event.endpoint_id = permitted.id
      ELSE coalesce(event.type = ANY(event_types), true) AND coalesce(event.client_id = permitted.client_id, true)
        AND ${isGranted(sql.ref('event.emr'), sql.ref('event.care_unit_id'))} END
    ORDER BY event.position`;
}

/** Whether `grants` contain an EHR and a care unit, if there is one. */
function isGranted(emr: RawBuilder<unknown>, careUnit: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`EXISTS (
    SELECT FROM jsonb_array_elements(grants) AS granted
    WHERE granted ->> 'emr' = ${emr}
      AND (${careUnit} IS NULL OR NOT granted ? 'care_units' OR granted -> 'care_units' ? ${careUnit}))`;
}

/**
 * Whether any gateway lets a client see an event: by its configuration file, which this process may not have yet, or by the
 * database. For events that `maySee` denies.
 */
export async function maySeeSomewhere(
  db: Db,
  clients: Pick<RefreshableClients, 'configured'>,
  clientId: string,
  {
    endpoint_id,
    client_id,
    emr,
    care_unit_id,
  }: Pick<StoredEvent, 'endpoint_id' | 'client_id' | 'emr' | 'care_unit_id'>,
): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM (${clientsNow(clients.configured())}) AS client
    WHERE client.id = ${clientId} AND coalesce(${client_id}::text = client.id, true) AND 'webhooks:manage' = ANY(scopes)
      AND (${endpoint_id !== null} OR ${isGranted(sql`${emr}::text`, sql`${care_unit_id}::text`)}) LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** Deliveries with the same text are made in order: those of an appointment, and those about the availability of an EHR. */
const orderedBy = sql<string | null>`
  CASE WHEN event.subject IS NOT NULL THEN event.emr || ' ' || event.subject WHEN event.type LIKE 'emr.%' THEN event.emr END`;

/** Whether a client may get an event now, as far as this process knows. A test event belongs to no care unit. */
export function maySee(
  clients: Pick<ClientRegistry, 'find'>,
  clientId: string,
  {
    endpoint_id,
    client_id,
    emr,
    care_unit_id,
  }: Pick<StoredEvent, 'endpoint_id' | 'client_id' | 'emr' | 'care_unit_id'>,
): boolean {
  const client = clients.find(clientId);
  if (!client?.scopes.has('webhooks:manage')) return false;
  if (endpoint_id !== null) return true;
  if (client_id !== null && client_id !== clientId) return false;
  const granted = client.grants.get(emr);
  return granted !== undefined && (care_unit_id === null || granted.has(care_unit_id));
}
