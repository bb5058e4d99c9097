import { type RawBuilder, sql } from 'kysely';
import type { ClientRegistry, RefreshableClients } from '../clients/client-registry.ts';
import { clientsNow } from '../clients/configured-grants.ts';
import type { Db } from '../db/kysely.ts';
import type { StoredEvent } from '../events/stored-event.ts';

/** Whether `grants` contain an EHR and a care unit, if there is one. */
export function isGranted(emr: RawBuilder<unknown>, careUnit: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`EXISTS (
    SELECT FROM jsonb_array_elements(grants) AS granted
    WHERE granted ->> 'emr' = ${emr}
      AND (${careUnit} IS NULL OR NOT granted ? 'care_units' OR granted -> 'care_units' ? ${careUnit}))`;
}

/** What decides who may see an event. */
type Shareable = Pick<StoredEvent, 'endpoint_id' | 'client_id' | 'emr' | 'care_unit_id'>;

/**
 * Whether any gateway lets a client see an event: by its configuration file, which this process may not have yet, or by the
 * database. For events that `maySee` denies.
 */
export async function maySeeSomewhere(
  db: Db,
  clients: Pick<RefreshableClients, 'configured'>,
  clientId: string,
  { endpoint_id, client_id, emr, care_unit_id }: Shareable,
): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM (${clientsNow(clients.configured())}) AS client
    WHERE client.id = ${clientId} AND coalesce(${client_id}::text = client.id, true) AND 'webhooks:manage' = ANY(scopes)
      AND (${endpoint_id !== null} OR ${isGranted(sql`${emr}::text`, sql`${care_unit_id}::text`)}) LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** Whether a client may get an event now, as far as this process knows. A test event belongs to no care unit. */
export function maySee(
  clients: Pick<ClientRegistry, 'find'>,
  clientId: string,
  { endpoint_id, client_id, emr, care_unit_id }: Shareable,
): boolean {
  const client = clients.find(clientId);
  if (!client?.scopes.has('webhooks:manage')) return false;
  if (endpoint_id !== null) return true;
  if (client_id !== null && client_id !== clientId) return false;
  const granted = client.grants.get(emr);
  return granted !== undefined && (care_unit_id === null || granted.has(care_unit_id));
}
