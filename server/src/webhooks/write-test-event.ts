import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';

/** Writes an event for one endpoint only. Returns its id. */
export async function writeTestEvent(tx: Tx, endpointId: string, emr: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    INSERT INTO events (type, emr, endpoint_id, data) VALUES ('webhook.test', ${emr}, ${endpointId}, '{}') RETURNING id`.execute(
    tx,
  );
  if (!rows[0]) throw new Error('The database returned no event');
  return rows[0].id;
}
