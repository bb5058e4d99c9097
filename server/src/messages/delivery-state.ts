import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';

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

/** By confirmation id; a confirmation without a message is absent. */
export async function deliveryStates(
  db: Db | Tx,
  confirmationIds: readonly string[],
): Promise<Map<string, DeliveryState>> {
  if (confirmationIds.length === 0) return new Map();
  const { rows } = await sql<{ id: string; state: DeliveryState }>`
    SELECT id::text, ${deliveryStateOf('asked.id')} AS state
    FROM unnest(${[...confirmationIds]}::uuid[]) AS asked (id)`.execute(db);
  return new Map(rows.filter(({ state }) => state !== null).map(({ id, state }) => [id, state]));
}
