import { type RawBuilder, sql } from 'kysely';

/** What is counted. The names are stored. */
export const happenings = [
  'booked',
  'moved',
  'cancelled',
  'code_sent',
  'code_confirmed',
  'message_failed',
  'delivered',
  'delivery_failed',
] as const;
export type Happening = (typeof happenings)[number];

/** The beginning of the quarter of an hour that an instant is in. In SQL. */
export function quarterOf(instant: RawBuilder<Date>): RawBuilder<Date> {
  return sql`date_bin('15 minutes', ${instant}, '2000-01-01 00:00Z')`;
}

/**
 * A query that counts what happened from one instant until another: rows of `quarter`, `kind` and `count`. Reads only what
 * happened then, by indexes.
 *
 * A code lives for a day at most and is not sent after its end, so its expiry finds the messages, without an index of their
 * own.
 *
 * An appointment counts as moved if its time or its resource has changed, or if it was booked anew for that. A delivery that ends because its endpoint is
 * disabled has neither arrived nor failed.
 */
export function countHappenings(from: RawBuilder<Date>, until: RawBuilder<Date>): RawBuilder<unknown> {
  const during = (column: string) => sql<boolean>`${sql.ref(column)} >= ${from} AND ${sql.ref(column)} < ${until}`;
  return sql`
    SELECT ${quarterOf(sql.ref('at'))} AS quarter, kind, count(*)::integer AS count FROM (
      SELECT occurred_at AS at, CASE type
        WHEN 'appointment.booked' THEN CASE WHEN data ? 'supersedes_id' THEN 'moved' ELSE 'booked' END
        WHEN 'appointment.updated' THEN CASE WHEN data -> 'changed' ?| '{start,end,resource_id}' THEN 'moved' END
        WHEN 'appointment.cancelled' THEN CASE WHEN data ? 'superseded_by_id' THEN NULL ELSE 'cancelled' END
        WHEN 'message.failed' THEN 'message_failed' END AS kind
      FROM events WHERE ${during('occurred_at')} AND endpoint_id IS NULL
      UNION ALL SELECT completed_at, 'code_sent' FROM messages
        WHERE state = 'sent' AND ${during('completed_at')}
          AND expires_at > ${from} - interval '1 hour' AND expires_at < ${until} + interval '25 hours'
      UNION ALL SELECT confirmed_at, 'code_confirmed' FROM confirmations WHERE ${during('confirmed_at')}
      UNION ALL SELECT completed_at, CASE state WHEN 'delivered' THEN 'delivered' ELSE 'delivery_failed' END
        FROM webhook_deliveries
        WHERE ${during('completed_at')} AND state <> 'pending' AND failure_reason IS DISTINCT FROM 'endpoint_disabled'
    ) AS happening WHERE kind IS NOT NULL GROUP BY 1, 2`;
}
