import { type RawBuilder, sql } from 'kysely';

/** `confirmation.delivery`: the state of the newest message. A withdrawn message counts as `failed`. */
export type DeliveryState = 'queued' | 'sent' | 'failed';

/**
 * SQL for the delivery state of the confirmation whose id is in the named column, such as `confirmations.id`. Null if the
 * confirmation has no message.
 */
export function deliveryStateOf(column: string): RawBuilder<DeliveryState | null> {
  return sql<DeliveryState | null>`(
    SELECT CASE state WHEN 'superseded' THEN 'failed' ELSE state END
    FROM messages WHERE confirmation_id = ${sql.ref(column)} ORDER BY sequence DESC LIMIT 1
  )`;
}
