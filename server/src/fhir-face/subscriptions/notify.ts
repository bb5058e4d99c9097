import type { Claimed } from '../../webhooks/claim-deliveries.ts';
import { type Endpoint, type Subscription, statusOfSubscription } from '../../webhooks/endpoint.ts';
import type { SentBody } from '../../webhooks/send-delivery.ts';
import { createAppointmentReader, type ReaderDependencies } from './appointment-reader.ts';
import { notificationBundle, notificationKind } from './notification.ts';

interface Dependencies extends ReaderDependencies {
  readonly http: { readonly api_url?: string | undefined; readonly public_url?: string | undefined };
}

/** Makes what a Subscription is sent. */
export function createNotifier({ http, ...reading }: Dependencies) {
  const publicUrl = http.api_url ?? http.public_url;
  const readAppointment = createAppointmentReader(reading);
  return async (endpoint: Endpoint, subscription: Subscription, delivery: Claimed): Promise<SentBody> => {
    const { event, number, total } = delivery;
    const { content, headers: own, mediaType, timeoutSeconds } = subscription.details;
    const headers = Object.fromEntries([...own, ...(mediaType === null ? [] : [['content-type', mediaType] as const])]);
    const timeoutMs = timeoutSeconds === null ? undefined : timeoutSeconds * 1000;
    if (content === 'none') return { payload: '', headers, timeoutMs };
    const status = statusOfSubscription(endpoint.disabledReason, subscription);
    const notified = { id: endpoint.id, subscription, status, publicUrl: publicUrl ?? subscription.details.publicUrl };
    const receiver = { clientId: endpoint.clientId, subscription, deliveryId: delivery.id };
    const isWhole = content === 'full-resource' && number !== null;
    const appointment = isWhole ? await readAppointment(receiver, String(event.data.appointment_id)) : undefined;
    const events = number === null ? [] : [{ number, event, appointment }];
    const bundle = notificationBundle(notified, notificationKind(event.type), number ?? total ?? 0, events);
    return { payload: JSON.stringify(bundle), headers, timeoutMs };
  };
}
