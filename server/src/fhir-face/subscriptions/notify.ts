import type { Claimed } from '../../webhooks/claim-deliveries.ts';
import { type Endpoint, type Subscription, statusOfSubscription } from '../../webhooks/endpoint.ts';
import type { SentBody } from '../../webhooks/send-delivery.ts';
import { notificationBundle, notificationKind } from './notification.ts';

/**
 * Makes what a Subscription is sent.
 *
 * @param publicUrl the address of the gateway, if the configuration says it
 */
export function createNotifier(publicUrl: string | undefined) {
  return async (endpoint: Endpoint, subscription: Subscription, delivery: Claimed): Promise<SentBody> => {
    const { event, number, total } = delivery;
    const { content, headers: own, mediaType, timeoutSeconds } = subscription.details;
    const headers = Object.fromEntries([...own, ...(mediaType === null ? [] : [['content-type', mediaType] as const])]);
    const timeoutMs = timeoutSeconds === null ? undefined : timeoutSeconds * 1000;
    if (content === 'none') return { payload: '', headers, timeoutMs };
    const status = statusOfSubscription(endpoint.disabledReason, subscription);
    const notified = { id: endpoint.id, subscription, status, publicUrl: publicUrl ?? subscription.details.publicUrl };
    const events = number === null ? [] : [{ number, event }];
    const bundle = notificationBundle(notified, notificationKind(event.type), number ?? total ?? 0, events);
    return { payload: JSON.stringify(bundle), headers, timeoutMs };
  };
}
