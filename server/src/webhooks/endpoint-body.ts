import type { Db, Tx } from '../db/kysely.ts';
import type { Delivery } from './delivery-store.ts';
import { type Endpoint, lastEnd, statusOfSubscription } from './endpoint.ts';
import type { DeliveryBody, EndpointBody } from './endpoint-contract.ts';
import { listSilentEndpoints } from './failing-endpoints.ts';

/** The endpoints as callers see them. */
export async function endpointBodies(db: Db | Tx, endpoints: readonly Endpoint[]): Promise<EndpointBody[]> {
  const silent = new Map((await listSilentEndpoints(db)).map(({ id, since }) => [id, since]));
  return endpoints.map((endpoint) => endpointBody(endpoint, silent.get(endpoint.id)));
}

/** @param failingSince `undefined`: it takes events, or has got none yet */
export function endpointBody(endpoint: Endpoint, failingSince?: Date): EndpointBody {
  const { id, url, eventTypes, disabledReason, previousSecrets, isReplaying, createdAt, subscription } = endpoint;
  return {
    id,
    url,
    event_types: eventTypes && ([...eventTypes] as NonNullable<EndpointBody['event_types']>),
    status: disabledReason === null ? 'enabled' : 'disabled',
    disabled_reason: disabledReason,
    previous_secret_expires_at: lastEnd(previousSecrets)?.toISOString() ?? null,
    failing_since: failingSince?.toISOString() ?? null,
    replaying: isReplaying,
    created_at: createdAt.toISOString(),
    subscription: subscription
      ? {
          emr: subscription.emr,
          care_unit_id: subscription.careUnitId,
          status: statusOfSubscription(disabledReason, subscription),
        }
      : null,
  };
}

export function deliveryBody(delivery: Delivery): DeliveryBody {
  const { id, event_id, event_type, state, attempts, response_status, failure_reason } = delivery;
  return {
    id,
    event_id,
    event_type,
    status: state,
    attempts,
    created_at: delivery.created_at.toISOString(),
    last_attempt_at: delivery.last_attempt_at?.toISOString() ?? null,
    next_attempt_at: state === 'pending' ? delivery.next_attempt_at.toISOString() : null,
    completed_at: delivery.completed_at?.toISOString() ?? null,
    response_status,
    reason: failure_reason as DeliveryBody['reason'],
  };
}
