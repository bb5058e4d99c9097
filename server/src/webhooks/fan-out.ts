import { sql } from 'kysely';
import type { ClientRegistry } from '../clients/client-registry.ts';
import type { Tx } from '../db/kysely.ts';
import type { StoredEvent } from '../events/stored-event.ts';

interface Receiver {
  readonly id: string;
  readonly client_id: string;
  readonly event_types: readonly string[] | null;
}

/** Creates a delivery of each event for each endpoint that wants it, in the transaction that publishes the events. */
export async function fanOut(
  tx: Tx,
  clients: Pick<ClientRegistry, 'find'>,
  events: readonly StoredEvent[],
): Promise<void> {
  if (events.length === 0) return;
  // Locked, so that none of them is deleted or disabled before the deliveries are stored.
  const receivers: Receiver[] = await tx
    .selectFrom('webhook_endpoints')
    .select(['id', 'client_id', 'event_types'])
    .where('disabled_reason', 'is', null)
    .forShare()
    .execute();
  for (const receiver of receivers) {
    await insertDeliveries(
      tx,
      receiver.id,
      events.filter((event) => wants(clients, receiver, event)),
    );
  }
}

/** Whether an endpoint gets an event, by its own filter and the present grants of its client. */
export function wants(
  clients: Pick<ClientRegistry, 'find'>,
  { id, client_id, event_types }: Receiver,
  event: StoredEvent,
): boolean {
  const { endpoint_id } = event;
  if (endpoint_id !== null) return endpoint_id === id;
  if (event_types && !event_types.includes(event.type)) return false;
  return maySee(clients, client_id, event);
}

/** Whether a client may get an event now. A test event belongs to no care unit. */
export function maySee(
  clients: Pick<ClientRegistry, 'find'>,
  clientId: string,
  { endpoint_id, emr, care_unit_id }: Pick<StoredEvent, 'endpoint_id' | 'emr' | 'care_unit_id'>,
): boolean {
  const client = clients.find(clientId);
  if (!client?.scopes.has('webhooks:manage')) return false;
  if (endpoint_id !== null) return true;
  const granted = client.grants.get(emr);
  return granted !== undefined && (care_unit_id === null || granted.has(care_unit_id));
}

/** Deliveries with the same text are made in order: those of an appointment, and those about the availability of an EHR. */
function orderedBy({ type, emr, subject }: StoredEvent): string | null {
  if (subject !== null) return `${emr} ${subject}`;
  return type.startsWith('emr.') ? emr : null;
}

/** Skips events that already have a pending delivery to the endpoint. */
export async function insertDeliveries(tx: Tx, endpointId: string, events: readonly StoredEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => {
    return { event_id: event.id, event_position: event.position, subject: orderedBy(event) };
  });
  await sql`
    INSERT INTO webhook_deliveries (endpoint_id, event_id, event_position, subject)
    SELECT ${endpointId}::uuid, event_id, event_position, subject
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS it (event_id uuid, event_position bigint, subject text)
    WHERE NOT EXISTS (
      SELECT FROM webhook_deliveries AS same
      WHERE same.event_id = it.event_id AND same.endpoint_id = ${endpointId}::uuid AND same.state = 'pending')
    ORDER BY event_position`.execute(tx);
}
