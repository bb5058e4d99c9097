import { sql } from 'kysely';
import type { RefreshableClients } from '../clients/client-registry.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { retryTransaction } from '../db/transactions.ts';
import { lastPosition } from '../events/positions.ts';
import { storedEventColumns } from '../events/stored-event.ts';
import { Problem } from '../problems/problem.ts';
import { isInProgress } from './claim-deliveries.ts';
import { wanted } from './fan-out.ts';

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
    FROM webhook_endpoints WHERE id = ${endpointId} FOR NO KEY UPDATE`.execute(tx);
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

/** A condition on `webhook_endpoints`. */
export const isReplaying = sql<boolean>`replay_until IS NOT NULL`;

/** Creates the deliveries of running replays, in batches. Returns whether there is more to do. */
export async function continueReplays(db: Db, clients: Pick<RefreshableClients, 'configured'>): Promise<boolean> {
  const running = await db.selectFrom('webhook_endpoints').select('id').where(isReplaying).execute();
  let hasMore = false;
  for (const { id } of running) {
    hasMore = (await retryTransaction(() => replayBatch(db, clients, id))) || hasMore;
  }
  return hasMore;
}

/**
 * One statement, so that no process can keep the endpoint locked. An event has no second delivery while one waits for its
 * first attempt or the next. A delivery whose attempt is in progress may arrive before those of the replay, so its event gets
 * another one: the last event of an appointment then arrives last. The deliveries that wait are locked, so that no attempt
 * begins before those of earlier events are stored.
 */
async function replayBatch(
  db: Db,
  clients: Pick<RefreshableClients, 'configured'>,
  endpointId: string,
): Promise<boolean> {
  // A Subscription has only the events that it has counted: not those from before it was created.
  const missing = sql`(
    SELECT * FROM batch WHERE id NOT IN (SELECT event_id FROM waiting) AND (
      NOT EXISTS (SELECT FROM subscription_counts WHERE endpoint_id = ${endpointId})
      OR id IN (SELECT event_id FROM subscription_events WHERE endpoint_id = ${endpointId})))`;
  const { rows } = await sql<{ has_more: boolean }>`
    WITH receivers AS MATERIALIZED (
      SELECT id, client_id, event_types, emr, care_unit_id, event_filter, replay_after, replay_until FROM webhook_endpoints
      WHERE id = ${endpointId} AND replay_until IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED
    ), batch AS MATERIALIZED (
      SELECT ${storedEventColumns} FROM events, receivers
      WHERE position > replay_after AND position <= replay_until AND endpoint_id IS NULL
      ORDER BY position LIMIT ${atOnce}
    ), waiting AS MATERIALIZED (
      SELECT event_id FROM webhook_deliveries AS delivery
      WHERE delivery.endpoint_id = ${endpointId} AND state = 'pending' AND NOT ${isInProgress}
        AND event_id IN (SELECT id FROM batch)
      ORDER BY event_position FOR UPDATE
    ), made AS (
      INSERT INTO webhook_deliveries (endpoint_id, event_id, event_position, subject)
      SELECT endpoint_id, event_id, event_position, wanted.subject FROM (${wanted(clients, missing, sql.table('receivers'))})
        AS wanted (endpoint_id, event_id, event_position, subject, is_counted)
    ), reached AS (SELECT CASE WHEN count(*) = ${atOnce} THEN max(position) END AS position FROM batch)
    UPDATE webhook_endpoints SET replay_after = reached.position,
      replay_until = CASE WHEN reached.position IS NOT NULL THEN receivers.replay_until END
    FROM receivers, reached WHERE webhook_endpoints.id = receivers.id
    RETURNING webhook_endpoints.replay_until IS NOT NULL AS has_more`.execute(db);
  return rows[0]?.has_more ?? false;
}
