import { type Html, html } from '../../html/html.ts';
import { addressOf } from '../../log/connection-fault.ts';
import type { Endpoint } from '../../webhooks/endpoint.ts';
import { findEndpoint } from '../../webhooks/endpoint-store.ts';
import { type EndpointSummary, summarizeEndpoint } from '../../webhooks/operator.ts';
import { includesRole } from '../accounts/roles.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn } from '../frame/page.ts';
import { facts, notice, time } from '../frame/parts.ts';
import { deliveryList } from './webhook-deliveries.ts';
import { addressText, endpointState, pendingText } from './webhooks.ts';

export const routes: readonly Route[] = [{ method: 'GET', path: 'webhooks/:id', role: 'view', page: webhookPage }];

const results: Readonly<Record<string, readonly ['good' | 'bad', string]>> = {
  tested: ['good', 'The test event is queued. A running gateway sends it within seconds.'],
  redelivered: ['good', 'The delivery is queued. A running gateway makes it within seconds.'],
  delivering: ['good', 'What it did not get is queued. A running gateway delivers it within seconds.'],
  nothing_waits: ['bad', 'Nothing was sent: all its events are delivered meanwhile, or are being delivered.'],
  replayed: ['good', 'The replay has started. Its deliveries appear below within seconds.'],
  enabled: ['good', 'The endpoint is enabled. Replay the events that it has missed.'],
  disabled: ['good', 'The endpoint is disabled, and its pending deliveries have ended.'],
  changed: ['good', 'The endpoint is changed.'],
  sent_before: [
    'bad',
    'The form was sent before, and this endpoint exists. Its secret is not shown again: rotate it if it is lost.',
  ],
  rotated: ['bad', 'Nothing was changed: the secret has been rotated since the form was opened.'],
  webhook_endpoint_disabled: ['bad', 'Nothing was sent: a disabled endpoint gets no events. Enable it first.'],
  webhook_delivery_not_found: ['bad', 'Nothing was sent: the delivery is no longer stored.'],
};

/** One endpoint, what an operator can do with it, and its deliveries. */
async function webhookPage(context: SignedIn): Promise<ConsoleResponse> {
  const { db, keys } = context.deps.services;
  const { params, query } = context.request;
  const found = await summarizeEndpoint(db, params.id ?? '');
  if (!found) return noSuchEndpoint(context);
  const endpoint = await findEndpoint(db, keys, undefined, found.id);
  const address = endpoint && addressOf(endpoint.url);
  const result = results[query.get('result') ?? ''];
  return consolePage(context, {
    title: 'Webhook endpoint',
    section: 'webhooks',
    content: html`${result && notice(...result)}<p><a href="${linkTo(context, 'webhooks')}">All webhooks</a></p>
<div class="title"><h1>Webhook endpoint</h1>${endpointState(found)}</div>
<p><code>${found.id}</code></p>
${found.disabledReason === 'gone' && html`<p class="advice">It responded with 410, so the gateway has disabled it.</p>`}
${
  found.disabledReason === 'failed' &&
  html`<p class="advice">Its handshake or the last attempt of a delivery has failed, so the gateway has disabled it.</p>`
}
${actions(context, found)}
${details(found, endpoint, address)}
<h2 id="deliveries">Deliveries</h2>
${await deliveryList(context, found, address)}`,
  });
}

export function noSuchEndpoint(context: SignedIn): ConsoleResponse {
  return consolePage(context, {
    title: 'No such endpoint',
    section: 'webhooks',
    status: 404,
    content: html`<h1>No such endpoint</h1>
<p>No webhook endpoint has this id. It may have been deleted meanwhile.</p>
<p><a href="${linkTo(context, 'webhooks')}">All webhooks</a></p>`,
  });
}

function actions(context: SignedIn, { id, disabledReason }: EndpointSummary): Html | false {
  const { role } = context.session;
  if (!includesRole(role, 'operate')) return false;
  const isEnabled = disabledReason === null;
  const path = `webhooks/${id}`;
  const button = (to: string, text: string, danger = '') =>
    html`<a class="button secondary${danger}" href="${linkTo(context, `${path}/${to}`)}">${text} …</a>\n`;
  const status = isEnabled ? 'disable' : 'enable';
  return html`<div class="actions">
${isEnabled && postForm(context, `${path}/test`, html`<button>Send a test event</button>`)}
${isEnabled && button('replay', 'Replay')}
${
  includesRole(role, 'admin') &&
  html`${button('change', 'Change')}${button('secret', 'Rotate the secret')}
${postForm(context, `${path}/${status}`, html`<button class="secondary${isEnabled && ' danger'}">${isEnabled ? 'Disable' : 'Enable'}</button>`)}
${button('delete', 'Delete', ' danger')}`
}</div>`;
}

function details(summary: EndpointSummary, endpoint: Endpoint | undefined, address: string | undefined): Html {
  const { clientId, eventTypes, failed, lastDeliveredAt } = summary;
  const subscription = endpoint?.subscription;
  return facts([
    ['Client', clientId],
    ['Host', addressText(address)],
    ['Events', eventTypes?.join(', ') ?? 'all'],
    ...(subscription
      ? [['FHIR Subscription', `${subscription.emr}, care unit ${subscription.careUnitId}`] as const]
      : []),
    ['Pending deliveries', pendingText(summary)],
    ['Failed deliveries', String(failed)],
    ['Last success', time(lastDeliveredAt)],
    ...(endpoint?.isReplaying ? [['Replay', 'in progress'] as const] : []),
    ...(endpoint?.previousSecrets ?? []).map(
      ({ expiresAt }) => ['Previous secret also signs until', time(expiresAt)] as const,
    ),
    ...(endpoint ? [['Created', time(endpoint.createdAt)] as const] : []),
  ]);
}
