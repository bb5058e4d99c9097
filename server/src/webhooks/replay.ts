import { sql } from 'kysely';
import type { ClientRegistry } from '../clients/client-registry.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { lastPosition } from '../events/positions.ts';
import { type StoredEvent, storedEventColumns } from '../events/stored-event.ts';
import { insertDeliveries, wants } from './fan-out.ts';

/** Batch size. After a full batch, the next one follows at once. */
const atOnce = 500;

/**
 * Starts a replay: an enabled endpoint gets every published event since a time again. A running replay is replaced. Later
 * events wait until its deliveries are created, so that the order is kept.
 */
export async function startReplay(tx: Tx, endpointId: string, from: Date): Promise<void> {
  await sql`
    UPDATE webhook_endpoints SET replay_until = newest, replay_after = coalesce(first - 1, newest)
    FROM (
      SELECT ${lastPosition('published')} AS newest, min(position) FILTER (WHERE occurred_at >= ${from}) AS first FROM events
    ) AS known
    WHERE id = ${endpointId} AND disabled_reason IS NULL`.execute(tx);
}

/** Creates the deliveries of running replays, in batches. Returns whether there is more to do. */
export async function continueReplays(db: Db, clients: ClientRegistry, limit = atOnce): Promise<boolean> {
  const running = await db.selectFrom('webhook_endpoints').select('id').where('replay_until', 'is not', null).execute();
  let hasMore = false;
  for (const { id } of running) {
    hasMore = (await db.transaction().execute((tx) => replayBatch(tx, clients, id, limit))) || hasMore;
  }
  return hasMore;
}

async function replayBatch(tx: Tx, clients: ClientRegistry, endpointId: string, limit: number): Promise<boolean> {
  const endpoint = await tx
    .selectFrom('webhook_endpoints')
    .select(['id', 'client_id', 'event_types', 'replay_after', 'replay_until'])
    .where('id', '=', endpointId)
    .where('replay_until', 'is not', null)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (!endpoint) return false;
  const { rows: events } = await sql<StoredEvent>`
    SELECT ${storedEventColumns} FROM events
    WHERE position > ${endpoint.replay_after} AND position <= ${endpoint.replay_until} AND endpoint_id IS NULL
    ORDER BY position LIMIT ${limit}`.execute(tx);
  await insertDeliveries(
    tx,
    endpointId,
    events.filter((event) => wants(clients, endpoint, event)),
  );
  const last = events.length === limit ? events.at(-1) : undefined;
  const progress = last ? { replay_after: last.position } : { replay_after: null, replay_until: null };
  await tx.updateTable('webhook_endpoints').set(progress).where('id', '=', endpointId).execute();
  return last !== undefined;
}
