import { sql } from 'kysely';
import type { ClientRegistry } from '../clients/client-registry.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { lastPosition } from '../events/positions.ts';
import { type StoredEvent, storedEventColumns } from '../events/stored-event.ts';
import { Problem } from '../problems/problem.ts';
import { insertDeliveries, wants } from './fan-out.ts';

/** Batch size. After a full batch, the next one follows at once. */
const atOnce = 500;

/** Replays of one endpoint that its client can start within an hour. Each can create a delivery of every stored event. */
const mostPerHour = 4;

/**
 * Counts a replay that a client starts.
 *
 * @throws Problem `rate_limited` while another one is creating deliveries, or after four within an hour
 */
export async function countReplay(tx: Tx, endpointId: string): Promise<void> {
  const { rows } = await sql<{ is_replaying: boolean; started: readonly Date[]; now: Date }>`
    SELECT replay_until IS NOT NULL AS is_replaying, now(), ARRAY(
      SELECT it FROM unnest(replays_started_at) AS it WHERE it > now() - interval '1 hour' ORDER BY it) AS started
    FROM webhook_endpoints WHERE id = ${endpointId} FOR UPDATE`.execute(tx);
  if (!rows[0]) return;
  const { is_replaying, started, now } = rows[0];
  if (is_replaying) throw tooMany('A replay of the endpoint is in progress.', secondsOfReplay);
  const oldest = started.at(-mostPerHour);
  if (oldest) {
    const seconds = (oldest.getTime() + 3_600_000 - now.getTime()) / 1000;
    throw tooMany(`The endpoint had ${mostPerHour} replays within an hour.`, seconds);
  }
  const times = [...started, now];
  await tx.updateTable('webhook_endpoints').set({ replays_started_at: times }).where('id', '=', endpointId).execute();
}

/** A batch of a replay takes less. */
const secondsOfReplay = 5;

function tooMany(detail: string, retryAfterSeconds: number): Problem {
  return new Problem('rate_limited', { detail, headers: { 'retry-after': String(Math.ceil(retryAfterSeconds)) } });
}

/**
 * Events are published nearly in the order of their times: a transaction that commits late is published after events of
 * later times. None that writes an event lasts longer than this.
 */
const longestWrite = sql`interval '1 minute'`;

/**
 * Starts a replay: an enabled endpoint gets every published event since a time again. A running replay is replaced. Later
 * events wait until its deliveries are created, so that the order is kept.
 */
export async function startReplay(tx: Tx, endpointId: string, from: Date): Promise<void> {
  await sql`
    WITH first AS MATERIALIZED (
      SELECT occurred_at FROM events WHERE occurred_at >= ${from} AND position IS NOT NULL ORDER BY occurred_at LIMIT 1
    ), among AS MATERIALIZED (
      SELECT position FROM events, first
      WHERE events.occurred_at >= first.occurred_at AND events.occurred_at <= first.occurred_at + ${longestWrite}
        AND position IS NOT NULL
    ), known AS (SELECT ${lastPosition('published')} AS newest, (SELECT min(position) FROM among) AS lowest)
    UPDATE webhook_endpoints SET replay_until = newest, replay_after = coalesce(lowest - 1, newest)
    FROM known WHERE id = ${endpointId} AND disabled_reason IS NULL`.execute(tx);
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
