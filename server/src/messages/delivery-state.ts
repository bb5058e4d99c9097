import { type RawBuilder, sql } from 'kysely';

/** What `confirmation.delivery` tells: of the newest message. One that was withdrawn unsent is `failed`. */
export type DeliveryState = 'queued' | 'sent' | 'failed';

/**
 * A column of the delivery state, for a query that has the confirmation's id in the named column, such as
 * `confirmations.id`. Null while the confirmation has no message.
 */
export function deliveryStateOf(column: string): RawBuilder<DeliveryState | null> {
  return sql<DeliveryState | null>`(
    SELECT CASE state WHEN 'superseded' THEN 'failed' ELSE state END
    FROM messages WHERE confirmation_id = ${sql.ref(column)} ORDER BY sequence DESC LIMIT 1
  )`;
}
