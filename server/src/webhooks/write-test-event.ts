import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import { handshakeType } from './settle-delivery.ts';

/** Writes an event for one endpoint only. Returns its id. */
export async function writeTestEvent(tx: Tx, endpointId: string, emr: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    INSERT INTO events (type, emr, endpoint_id, data) VALUES ('webhook.test', ${emr}, ${endpointId}, '{}') RETURNING id`.execute(
    tx,
  );
  if (!rows[0]) throw new Error('The database returned no event');
  return rows[0].id;
}

/**
 * Writes the event that the receiver of a Subscription has to accept before it gets any other. An earlier one does not count any
 * more.
 */
export async function writeHandshake(tx: Tx, endpointId: string): Promise<void> {
  await sql`
    WITH made AS (
      INSERT INTO events (type, emr, care_unit_id, endpoint_id, data)
      SELECT ${handshakeType}, emr, care_unit_id, id, '{}' FROM webhook_endpoints WHERE id = ${endpointId} RETURNING id)
    UPDATE webhook_endpoints SET handshake_id = made.id FROM made WHERE webhook_endpoints.id = ${endpointId}`.execute(
    tx,
  );
}
