import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { DisabledReason } from '../db/tables/webhooks.ts';
import { retryTransaction } from '../db/transactions.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type Claimed, isInProgress } from './claim-deliveries.ts';
import type { Endpoint } from './endpoint.ts';
import { findEndpoint, lockRow } from './endpoint-store.ts';
import type { AttemptResult } from './send-delivery.ts';

const gone = 410;
/** Seconds. An endpoint cannot ask for a longer pause. */
const longestRetryAfter = 3_600;
/** Spreads the retries of many deliveries to one endpoint. */
const jitter = 0.1;

/** `superseded`: nothing was recorded, because the delivery was ended, deleted or claimed again meanwhile. */
export type Settled = 'delivered' | 'retry' | 'failed' | 'superseded';

/**
 * Records the result of an attempt. Later events of the same subject wait for the retry, or are due as soon as this one has
 * been delivered or given up. Only failures that are recorded count: an attempt whose process was killed has not failed.
 *
 * @param endpoint as it was at the attempt
 * @param retrySeconds pauses between attempts; after the last one the delivery has failed
 */
export function settleDelivery(
  db: Db,
  keys: KeyRing,
  { endpoint, delivery, result }: Attempt,
  retrySeconds: readonly number[],
): Promise<Settled> {
  // Each statement locks several deliveries, as one that disables or deletes the endpoint does in another order.
  return retryTransaction(() => settle(db, keys, { endpoint, delivery, result }, retrySeconds));
}

interface Attempt {
  readonly endpoint: Pick<Endpoint, 'id' | 'clientId' | 'url' | 'subscription'>;
  readonly delivery: Claimed;
  readonly result: AttemptResult;
}

async function settle(
  db: Db,
  keys: KeyRing,
  { endpoint, delivery, result }: Attempt,
  retrySeconds: readonly number[],
): Promise<Settled> {
  const isHandshake = delivery.event.type === handshakeType;
  if (result.failure === undefined) {
    // Before the delivery ends: whatever happens between, it is made again.
    if (isHandshake) await activate(db, delivery);
    return end(db, delivery, 'delivered', result);
  }
  const pause = isHandshake ? undefined : retrySeconds[delivery.failures];
  const isOver = endpoint.subscription !== undefined && pause === undefined;
  const disabled = result.status === gone ? 'gone' : isOver ? 'failed' : undefined;
  const settled = disabled && (await settleDisabled(db, keys, { endpoint, delivery, result }, disabled));
  if (settled) return settled;
  if (pause === undefined) return end(db, delivery, 'failed', result);
  const asked = Math.min(result.retryAfterSeconds ?? 0, longestRetryAfter);
  return postpone(db, delivery, result, Math.max(asked, pause * (1 + jitter * Math.random())));
}

/**
 * Disables the endpoint, unless its client has changed the URL or enabled it again since the attempt. Returns `undefined`
 * if the URL has changed: the new one may want the event.
 */
function settleDisabled(
  db: Db,
  keys: KeyRing,
  { endpoint, delivery, result }: Attempt,
  reason: 'gone' | 'failed',
): Promise<Settled | undefined> {
  return db.transaction().execute(async (tx) => {
    // The endpoint first, as a request that disables it does, to avoid deadlocks.
    await lockRow(tx, endpoint.id);
    const current = await findEndpoint(tx, keys, endpoint.clientId, endpoint.id);
    if (current && current.url !== endpoint.url) return undefined;
    const settled = await end(tx, delivery, 'failed', result);
    if (settled === 'failed') {
      await disable(tx, endpoint.id, reason);
      await failPending(tx, endpoint.id);
    }
    return settled;
  });
}

/** Gives a claim back as if it had not been made: other gateways may make the delivery, and try in a second. */
export async function leaveToOthers(db: Db, { id, attempts }: Claimed): Promise<void> {
  await sql`
    UPDATE webhook_deliveries SET attempts = attempts - 1, last_attempt_at = NULL, next_attempt_at = now() + interval '1 second'
    WHERE id = ${id} AND state = 'pending' AND attempts = ${attempts}`.execute(db);
}

/** Fails a delivery that must not be made. Later events of the same subject become due. */
export function endWithoutAttempt(db: Db, delivery: Claimed): Promise<Settled> {
  return end(db, delivery, 'failed', { failure: 'not_granted' });
}

async function end(
  db: Db | Tx,
  { id, endpointId, subject, attempts }: Claimed,
  state: 'delivered' | 'failed',
  { status, failure }: Omit<AttemptResult, 'failure'> & { readonly failure?: AttemptResult['failure'] | 'not_granted' },
): Promise<Settled> {
  const { rows } = await sql`
    WITH ended AS (
      UPDATE webhook_deliveries SET state = ${state}, response_status = ${status ?? null}::integer,
        failure_reason = ${failure ?? null}::text, completed_at = now()
      WHERE id = ${id} AND attempts = ${attempts}
        -- The endpoint may have been disabled during an attempt that has delivered the event.
        AND (state = 'pending' OR (${state === 'delivered'} AND failure_reason = 'endpoint_disabled'))
      RETURNING id
    ), due AS (
      UPDATE webhook_deliveries AS later SET next_attempt_at = now() FROM ended
      WHERE later.endpoint_id = ${endpointId} AND later.subject = ${subject} AND later.state = 'pending'
        AND later.id <> ended.id AND later.next_attempt_at > now() AND later.attempts = 0)
    SELECT FROM ended`.execute(db);
  return rows.length > 0 ? state : 'superseded';
}

async function postpone(
  db: Db,
  { id, endpointId, subject, attempts }: Claimed,
  { status, failure }: AttemptResult,
  seconds: number,
): Promise<Settled> {
  const { rows } = await sql`
    WITH postponed AS (
      UPDATE webhook_deliveries SET next_attempt_at = now() + make_interval(secs => ${seconds}), failures = failures + 1,
        response_status = ${status ?? null}::integer, failure_reason = ${failure ?? null}::text
      WHERE id = ${id} AND state = 'pending' AND attempts = ${attempts} RETURNING id, next_attempt_at
    ), waiting AS (
      UPDATE webhook_deliveries AS later SET next_attempt_at = greatest(later.next_attempt_at, postponed.next_attempt_at)
      FROM postponed
      WHERE later.endpoint_id = ${endpointId} AND later.subject = ${subject} AND later.state = 'pending'
        AND later.id <> postponed.id AND later.attempts = 0)
    SELECT FROM postponed`.execute(db);
  return rows.length > 0 ? 'retry' : 'superseded';
}

/** The event that asks the receiver of a Subscription whether it takes events. It is tried once. */
export const handshakeType = 'subscription.handshake';

/** The receiver has answered the handshake. An earlier one, such as to another URL, does not count. */
async function activate(db: Db, { endpointId, event }: Claimed): Promise<void> {
  await db
    .updateTable('webhook_endpoints')
    .set({ handshake_id: null })
    .where('id', '=', endpointId)
    .where('handshake_id', '=', event.id)
    .execute();
}

/** The endpoint gets no more events. */
async function disable(tx: Tx, endpointId: string, reason: DisabledReason): Promise<void> {
  await tx
    .updateTable('webhook_endpoints')
    .set({ disabled_reason: reason, replay_after: null, replay_until: null })
    .where('id', '=', endpointId)
    .where('disabled_reason', 'is', null)
    .execute();
}

/**
 * Ends the deliveries of a disabled endpoint. If it is soon enabled again, later events wait until the attempts that are in
 * progress have ended, so that none of these arrives after them.
 */
export async function failPending(tx: Tx, endpointId: string): Promise<void> {
  await sql`
    WITH in_progress AS (
      SELECT max(next_attempt_at) AS until FROM webhook_deliveries AS delivery
      WHERE endpoint_id = ${endpointId} AND state = 'pending' AND ${isInProgress}
    ), ended AS (
      UPDATE webhook_deliveries SET state = 'failed', failure_reason = 'endpoint_disabled', completed_at = now()
      WHERE endpoint_id = ${endpointId} AND state = 'pending')
    UPDATE webhook_endpoints SET paused_until = greatest(paused_until, in_progress.until) FROM in_progress
    WHERE id = ${endpointId}`.execute(tx);
}
