import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/** The event that shows the receiver of a Subscription that nothing is lost, although nothing happens. */
const heartbeatType = 'subscription.heartbeat';

/** A condition on `webhook_endpoints`. */
export const isHeartbeatDue = sql<boolean>`
  next_heartbeat_at <= now() AND disabled_reason IS NULL AND handshake_id IS NULL AND coalesce(ends_at > now(), true)`;

/**
 * Writes the heartbeats that are due, each once, whichever gateway is first. While the last one is not delivered, it is tried again
 * and no other is written. Of each Subscription, the last one is kept. Returns `false`: there are no more.
 */
export async function writeHeartbeats(db: Db): Promise<boolean> {
  await sql`
    WITH due AS MATERIALIZED (
      SELECT id, emr, care_unit_id, heartbeat_id, EXISTS (
        SELECT FROM webhook_deliveries WHERE event_id = heartbeat_id AND state = 'pending') AS is_waiting
      FROM webhook_endpoints WHERE ${isHeartbeatDue} FOR NO KEY UPDATE SKIP LOCKED
    ), former AS (
      DELETE FROM events USING due WHERE events.id = due.heartbeat_id AND NOT is_waiting AND events.position IS NOT NULL
    ), made AS (
      INSERT INTO events (type, emr, care_unit_id, endpoint_id, data)
      SELECT ${heartbeatType}, emr, care_unit_id, id, '{}' FROM due WHERE NOT is_waiting RETURNING id, endpoint_id)
    UPDATE webhook_endpoints SET next_heartbeat_at = now() + make_interval(secs => heartbeat_seconds),
      heartbeat_id = coalesce((SELECT made.id FROM made WHERE made.endpoint_id = due.id), due.heartbeat_id)
    FROM due WHERE webhook_endpoints.id = due.id`.execute(db);
  return false;
}
