import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { type StoredEvent, storedEventColumns } from '../events/stored-event.ts';

/** How many events each of these Subscriptions has had. */
export async function countEvents(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('subscription_counts').selectAll().where('endpoint_id', 'in', ids).execute();
  return new Map(rows.map(({ endpoint_id, events }) => [endpoint_id, events]));
}

export type CountedEvent = StoredEvent & { readonly number: number };

/** The stored events of a Subscription with the numbers `since` to `until`, in order, at most `limit`. */
export async function readCountedEvents(
  db: Db,
  endpointId: string,
  { since, until, limit }: { readonly since: number; readonly until: number; readonly limit: number },
): Promise<CountedEvent[]> {
  const { rows } = await sql<CountedEvent>`
    SELECT counted.number, ${storedEventColumns} FROM subscription_events AS counted JOIN events ON events.id = counted.event_id
    WHERE counted.endpoint_id = ${endpointId} AND number BETWEEN ${since} AND ${until} ORDER BY number LIMIT ${limit}`.execute(
    db,
  );
  return rows;
}

/** The number of the oldest event that is stored. `undefined`: none is. */
export async function oldestNumber(db: Db, endpointId: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('subscription_events')
    .select('number')
    .where('endpoint_id', '=', endpointId)
    .orderBy('number')
    .limit(1)
    .executeTakeFirst();
  return row?.number;
}
