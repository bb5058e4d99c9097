import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { Claimed } from './claim-deliveries.ts';
import type { AttemptResult } from './send-delivery.ts';

const gone = 410;
/** Seconds. An endpoint cannot ask for a longer pause. */
const longestRetryAfter = 3_600;
/** Spreads the retries of many deliveries to one endpoint. */
const jitter = 0.1;

export type Settled = 'delivered' | 'retry' | 'failed';

/**
 * Records the result of an attempt. Later events of the same subject wait for the retry, or are due as soon as this one has
 * been delivered or given up. Only failures that are recorded count: an attempt whose process was killed has not failed.
 * Does nothing if another process has claimed the delivery meanwhile.
 *
 * @param retrySeconds pauses between attempts; after the last one the delivery has failed
 */
export async function settleDelivery(
  db: Db,
  delivery: Claimed,
  result: AttemptResult,
  retrySeconds: readonly number[],
): Promise<Settled> {
  if (result.failure === undefined) {
    await end(db, delivery, 'delivered', result);
    return 'delivered';
  }
  if (result.status === gone) {
    await db.transaction().execute(async (tx) => {
      // The endpoint first, as a request that disables it does, to avoid deadlocks.
      await disableAsGone(tx, delivery.endpointId);
      await end(tx, delivery, 'failed', result);
      await failPending(tx, delivery.endpointId);
    });
    return 'failed';
  }
  const pause = retrySeconds[delivery.failures];
  if (pause === undefined) {
    await end(db, delivery, 'failed', result);
    return 'failed';
  }
  const asked = Math.min(result.retryAfterSeconds ?? 0, longestRetryAfter);
  await postpone(db, delivery, result, Math.max(asked, pause * (1 + jitter * Math.random())));
  return 'retry';
}

/** Fails a delivery that must not be made. Later events of the same subject become due. */
export function endWithoutAttempt(db: Db, delivery: Claimed): Promise<void> {
  return end(db, delivery, 'failed', { failure: 'not_granted' });
}

async function end(
  db: Db | Tx,
  { id, endpointId, subject, attempts }: Claimed,
  state: 'delivered' | 'failed',
  { status, failure }: Omit<AttemptResult, 'failure'> & { readonly failure?: AttemptResult['failure'] | 'not_granted' },
): Promise<void> {
  await sql`
    WITH ended AS (
      UPDATE webhook_deliveries SET state = ${state}, response_status = ${status ?? null}::integer,
        failure_reason = ${failure ?? null}::text, completed_at = now()
      WHERE id = ${id} AND state = 'pending' AND attempts = ${attempts} RETURNING id)
    UPDATE webhook_deliveries AS later SET next_attempt_at = now() FROM ended
    WHERE later.endpoint_id = ${endpointId} AND later.subject = ${subject} AND later.state = 'pending'
      AND later.id <> ended.id AND later.next_attempt_at > now() AND later.attempts = 0`.execute(db);
}

async function postpone(
  db: Db,
  { id, endpointId, subject, attempts }: Claimed,
  { status, failure }: AttemptResult,
  seconds: number,
): Promise<void> {
  await sql`
    WITH postponed AS (
      UPDATE webhook_deliveries SET next_attempt_at = now() + make_interval(secs => ${seconds}), failures = failures + 1,
        response_status = ${status ?? null}::integer, failure_reason = ${failure ?? null}::text
      WHERE id = ${id} AND state = 'pending' AND attempts = ${attempts} RETURNING id, next_attempt_at)
    UPDATE webhook_deliveries AS later SET next_attempt_at = greatest(later.next_attempt_at, postponed.next_attempt_at)
    FROM postponed
    WHERE later.endpoint_id = ${endpointId} AND later.subject = ${subject} AND later.state = 'pending'
      AND later.id <> postponed.id AND later.attempts = 0`.execute(db);
}

/** The endpoint wants no more events. */
async function disableAsGone(tx: Tx, endpointId: string): Promise<void> {
  await tx
    .updateTable('webhook_endpoints')
    .set({ disabled_reason: 'gone', replay_after: null, replay_until: null })
    .where('id', '=', endpointId)
    .where('disabled_reason', 'is', null)
    .execute();
}

/** Ends the deliveries of a disabled endpoint. */
export async function failPending(tx: Tx, endpointId: string): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ state: 'failed', failure_reason: 'endpoint_disabled', completed_at: sql<Date>`now()` })
    .where('endpoint_id', '=', endpointId)
    .where('state', '=', 'pending')
    .execute();
}
