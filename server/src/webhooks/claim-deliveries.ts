import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { type StoredEvent, storedEventColumns } from '../events/stored-event.ts';

/** A delivery that this process makes an attempt at. */
export interface Claimed {
  readonly id: string;
  readonly endpointId: string;
  readonly subject: string | null;
  /** Attempts that were started, with this one. Identifies the claim. */
  readonly attempts: number;
  /** Attempts that failed. */
  readonly failures: number;
  readonly event: StoredEvent;
  /** Of a Subscription: the number of the event, and how many it has had. Null: it does not count the event, or is none. */
  readonly number: number | null;
  readonly total: number | null;
}

/** Whether `delivery` must wait, because that of an earlier event of the same subject is pending. */
const isBlocked: RawBuilder<boolean> = sql`
  delivery.subject IS NOT NULL AND EXISTS (
    SELECT FROM webhook_deliveries AS earlier
    WHERE earlier.endpoint_id = delivery.endpoint_id AND earlier.subject = delivery.subject AND earlier.state = 'pending'
      AND (earlier.event_position, earlier.sequence) < (delivery.event_position, delivery.sequence))`;

/** Whether a process is making an attempt at the pending `delivery`, or was killed during one. */
export const isInProgress: RawBuilder<boolean> = sql`(
  delivery.last_attempt_at IS NOT NULL AND delivery.failure_reason IS NULL)`;

/** The last position that may be delivered. Later events wait until a running replay has created its deliveries. */
function lastInOrder(endpointId: string): RawBuilder<number> {
  return sql`coalesce((SELECT replay_after FROM webhook_endpoints WHERE id = ${endpointId}), ${Number.MAX_SAFE_INTEGER})`;
}

/** Nothing comes before the handshake of a Subscription. */
function isOpen(endpointId: string): RawBuilder<boolean> {
  return sql`coalesce((SELECT handshake_id FROM webhook_endpoints WHERE id = ${endpointId}), delivery.event_id) = delivery.event_id`;
}

/**
 * Claims deliveries of an endpoint that are due. Another process may claim them again after `leaseSeconds`, so this one must
 * have ended its attempt by then. Several gateways share the work.
 */
export async function claimDeliveries(
  db: Db,
  endpointId: string,
  leaseSeconds: number,
  limit: number,
): Promise<Claimed[]> {
  type Row = StoredEvent & Omit<Claimed, 'id' | 'event'> & { delivery_id: string; delivery_subject: string | null };
  const { rows } = await sql<Row>`
    WITH due AS MATERIALIZED (
      SELECT id FROM webhook_deliveries AS delivery
      WHERE endpoint_id = ${endpointId} AND state = 'pending' AND next_attempt_at <= now() AND NOT (${isBlocked})
        AND event_position <= ${lastInOrder(endpointId)} AND ${isOpen(endpointId)}
      ORDER BY next_attempt_at, event_position LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    UPDATE webhook_deliveries AS delivery SET attempts = attempts + 1, last_attempt_at = now(),
      response_status = NULL, failure_reason = NULL,
      next_attempt_at = now() + make_interval(secs => ${leaseSeconds})
    FROM due, events WHERE delivery.id = due.id AND events.id = delivery.event_id
    RETURNING delivery.id AS delivery_id, delivery.subject AS delivery_subject, delivery.attempts,
      delivery.failures, ${storedEventColumns},
      (SELECT number FROM subscription_events AS counted WHERE counted.event_id = events.id
        AND counted.endpoint_id = delivery.endpoint_id) AS number,
      (SELECT counts.events FROM subscription_counts AS counts WHERE counts.endpoint_id = delivery.endpoint_id) AS total`.execute(
    db,
  );
  return rows
    .toSorted((a, b) => a.position - b.position)
    .map(({ delivery_id, delivery_subject, attempts, failures, number, total, ...event }) => ({
      id: delivery_id,
      endpointId,
      subject: delivery_subject,
      attempts,
      failures,
      event,
      number,
      total,
    }));
}
