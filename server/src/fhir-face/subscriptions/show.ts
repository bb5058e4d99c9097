import type { Extension, Subscription } from '@medplum/fhirtypes';
import { type Endpoint, type Subscription as Stored, statusOfSubscription } from '../../webhooks/endpoint.ts';
import { versionOf } from '../ids.ts';
import { showHeaders } from './headers.ts';
import { backport } from './urls.ts';

export type SubscribedEndpoint = Endpoint & { readonly subscription: Stored };

/** As its client sees it. The values of headers are secrets, and are not shown. */
export function toSubscription({ id, url, disabledReason, subscription }: SubscribedEndpoint): Subscription {
  const { details, endsAt, heartbeatSeconds } = subscription;
  const { criteria, filters, content, mediaType, headers, reason, timeoutSeconds, maxCount } = details;
  const extension = [
    ...(heartbeatSeconds === null ? [] : [{ url: backport.heartbeat, valueUnsignedInt: heartbeatSeconds }]),
    ...(timeoutSeconds === null ? [] : [{ url: backport.timeout, valueUnsignedInt: timeoutSeconds }]),
    ...(maxCount === null ? [] : [{ url: backport.maxCount, valuePositiveInt: maxCount }]),
  ];
  const filterExtensions = filters.map((valueString): Extension => ({ url: backport.filter, valueString }));
  const shown = {
    status: statusOfSubscription(disabledReason, subscription),
    ...(endsAt === null ? {} : { end: endsAt.toISOString() }),
    reason,
    criteria,
    ...(filters.length > 0 ? { _criteria: { extension: filterExtensions } } : {}),
    ...(disabledReason === 'failed' ? { error } : {}),
    channel: {
      ...(extension.length > 0 ? { extension } : {}),
      type: 'rest-hook',
      endpoint: url,
      ...(mediaType === null ? {} : { payload: mediaType }),
      ...(content === 'none' ? {} : { _payload: { extension: [{ url: backport.content, valueCode: content }] } }),
      ...(headers.length > 0 ? { header: showHeaders(headers) } : {}),
    },
  } as const;
  return {
    resourceType: 'Subscription',
    id,
    meta: { versionId: versionOf(id, shown, headers) },
    ...shown,
  } as Subscription;
}

const error = 'The endpoint has not accepted the handshake, or the last attempt of a notification.';
