import { type RawBuilder, sql } from 'kysely';

/** The values of `confirmation.delivery`. */
export const deliveryStates = ['queued', 'delayed', 'sent', 'delivered', 'failed'] as const;

/** `confirmation.delivery`: the state of the newest message. A withdrawn message counts as `failed`. */
export type DeliveryState = (typeof deliveryStates)[number];

/** A condition on `messages`: the message has not left, and the gateways have noticed that it is late. */
export const isDelayed = sql<boolean>`(state = 'queued' AND delayed_at IS NOT NULL)`;

/**
 * SQL for the delivery state of the confirmation whose id is in the named column, such as `confirmations.id`. Null if the
 * confirmation has no message.
 */
export function deliveryStateOf(column: string): RawBuilder<DeliveryState | null> {
  return sql<DeliveryState | null>`(
    SELECT CASE WHEN delivered_at IS NOT NULL THEN 'delivered' WHEN ${isDelayed} THEN 'delayed' WHEN state = 'superseded' THEN 'failed' ELSE state END
    FROM messages WHERE confirmation_id = ${sql.ref(column)} ORDER BY sequence DESC LIMIT 1
  )`;
}
