import type { Logger } from 'pino';
import type { RefreshableClients } from '../clients/client-registry.ts';
import { createClaimedWork } from '../db/claimed-work.ts';
import type { Db } from '../db/kysely.ts';
import { createAttemptLog } from '../log/attempt-log.ts';
import { describeError } from '../log/describe-error.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type Claimed, claimDeliveries } from './claim-deliveries.ts';
import type { Endpoint, Subscription } from './endpoint.ts';
import { endpointsWithDue } from './endpoint-store.ts';
import { eventBody } from './event-body.ts';
import { maySee, maySeeSomewhere } from './may-see.ts';
import type { WebhookMetrics } from './metrics.ts';
import { createPlaces } from './places.ts';
import type { DeliverySender, SentBody } from './send-delivery.ts';
import { endWithoutAttempt, leaveToOthers, settleDelivery } from './settle-delivery.ts';

/** Concurrent attempts at one endpoint in this process. A slow endpoint delays no other. */
const atOncePerEndpoint = 4;
/** Concurrent attempts in this process. Each takes a connection and the memory of an event. */
const atOnce = 256;
/** Seconds. Margin of a claim over the longest attempt, in which a notification may read its appointment. */
const margin = 10;

interface Dependencies {
  /** Uses the pool for background jobs. */
  readonly db: Db;
  readonly keys: KeyRing;
  readonly clients: Pick<RefreshableClients, 'configured' | 'find' | 'refresh'>;
  readonly sender: DeliverySender;
  /** The notification of an event to a Subscription. */
  notify(endpoint: Endpoint, subscription: Subscription, delivery: Claimed): Promise<SentBody>;
  readonly settings: { readonly timeout_ms: number; readonly retry_seconds: readonly number[] };
  readonly metrics: WebhookMetrics;
  readonly log: Logger;
}

export interface Dispatcher {
  /** Starts attempts at deliveries that are due, and does not wait for them. Returns whether there may be more. */
  round(): Promise<boolean>;
  /** Waits for attempts in progress. */
  stop(): Promise<void>;
}

/** A gateway of a version that knows no Subscriptions makes deliveries that do not fit, while it is being replaced. */
function isOfSubscription({ number, event }: Claimed): boolean {
  return number !== null || event.endpoint_id !== null;
}

/**
 * Delivers events to webhook endpoints, at least once. An attempt whose process is killed is made again when its claim
 * expires.
 */
export function createDispatcher(dependencies: Dependencies): Dispatcher {
  const { db, keys, clients, sender, settings, metrics, log } = dependencies;
  const leaseSeconds = settings.timeout_ms / 1000 + margin;
  const attempts = createAttemptLog(log, {
    subject: 'endpoint_id',
    failing: 'attempts to deliver webhooks fail',
    again: 'webhooks are delivered again',
  });

  /** The client may have been removed or restricted since the delivery was created. */
  async function mayStillSee({ clientId }: Endpoint, { event }: Claimed): Promise<boolean> {
    if (maySee(clients, clientId, event)) return true;
    // The client or its grant may be new, and not known to this process yet.
    await clients.refresh();
    return maySee(clients, clientId, event);
  }

  async function attempt(endpoint: Endpoint, delivery: Claimed): Promise<void> {
    const about = {
      delivery_id: delivery.id,
      endpoint_id: endpoint.id,
      event_id: delivery.event.id,
      attempt: delivery.attempts,
    };
    try {
      if (!(await mayStillSee(endpoint, delivery))) {
        if (await maySeeSomewhere(db, clients, endpoint.clientId, delivery.event)) {
          await leaveToOthers(db, delivery);
          return;
        }
        metrics.attempted((await endWithoutAttempt(db, delivery)) === 'failed' ? 'not_granted' : 'superseded');
        log.warn(about, 'webhook delivery ended: the client may not see the event');
        return;
      }
      const { subscription } = endpoint;
      if (subscription && !isOfSubscription(delivery)) {
        metrics.attempted(await endWithoutAttempt(db, delivery));
        return;
      }
      const sent = subscription
        ? await dependencies.notify(endpoint, subscription, delivery)
        : { payload: JSON.stringify(eventBody(delivery.event)) };
      const result = await sender.send(endpoint, delivery.event.id, sent);
      const outcome = await settleDelivery(db, keys, { endpoint, delivery, result }, settings.retry_seconds);
      metrics.attempted(outcome);
      const { status, failure: reason } = result;
      if (outcome === 'retry') log.info({ ...about, reason, status }, 'webhook not delivered, will retry');
      if (outcome === 'failed') log.error({ ...about, reason, status }, 'webhook delivery failed');
      if (reason === undefined) attempts.succeeded(endpoint.id);
      else attempts.failed(endpoint.id, { reason, status });
    } catch (error) {
      // The claim expires, and the attempt is made again.
      log.error({ ...about, cause: describeError(error) }, 'webhook delivery could not be processed');
    }
  }

  const work = createClaimedWork<Endpoint, Claimed>({
    places: createPlaces(atOnce, atOncePerEndpoint),
    claim: (endpoint, limit) => claimDeliveries(db, endpoint.id, leaseSeconds, limit),
    attempt,
    // A later event of the subject may be due. The secret of the endpoint may have changed.
    reread: async ({ id }) => (await endpointsWithDue(db, keys, id))[0],
    failed: ({ id }, error) => log.error({ endpoint_id: id, cause: describeError(error) }, 'webhook round failed'),
  });

  return {
    async round() {
      let started = 0;
      for (const endpoint of await endpointsWithDue(db, keys)) started += await work.start(endpoint);
      return started > 0;
    },
    async stop() {
      await work.stop();
      attempts.stop();
      await sender.close();
    },
  };
}
