import { type HtmlContent, html } from '../../html/html.ts';
import { readAddresses } from '../../webhooks/endpoint-store.ts';
import { type EndpointSummary, summarizeEndpoints } from '../../webhooks/operator.ts';
import { includesRole } from '../accounts/roles.ts';
import { consolePage } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn } from '../frame/page.ts';
import { badge, duration, notice, table, time } from '../frame/parts.ts';

export const routes: readonly Route[] = [{ method: 'GET', path: 'webhooks', role: 'view', page: webhooksPage }];

/** The webhook endpoints of all clients. */
async function webhooksPage(context: SignedIn): Promise<ConsoleResponse> {
  const { db, keys } = context.deps.services;
  const endpoints = await summarizeEndpoints(db);
  const addresses = await readAddresses(db, keys);
  const isAdmin = includesRole(context.session.role, 'admin');
  return consolePage(context, {
    title: 'Webhooks',
    section: 'webhooks',
    content: html`${
      context.request.query.get('result') === 'deleted' &&
      notice('good', 'The endpoint and its deliveries are deleted.')
    }<h1>Webhooks</h1>
<p>Endpoints of clients, to which the gateway posts events. Of a URL only host and port are shown, because the rest can contain a
token.</p>
${isAdmin && html`<div class="actions"><a class="button" href="${linkTo(context, 'new-webhook')}">New endpoint</a></div>`}
<h2>Endpoints</h2>
${endpoints.length === 0 ? html`<p class="empty">No webhook endpoints.</p>` : endpointTable(context, endpoints, addresses)}`,
  });
}

function endpointTable(
  context: SignedIn,
  endpoints: readonly EndpointSummary[],
  addresses: ReadonlyMap<string, string>,
): HtmlContent {
  return table(
    'By client',
    ['State', 'Endpoint', 'Client', 'Host', 'Pending', 'Failed', 'Last success'],
    endpoints.map((endpoint) => [
      endpointState(endpoint),
      html`<a href="${linkTo(context, `webhooks/${endpoint.id}`)}"><code>${endpoint.id}</code></a>`,
      endpoint.clientId,
      addressText(addresses.get(endpoint.id)),
      pendingText(endpoint),
      endpoint.failed,
      time(endpoint.lastDeliveredAt),
    ]),
  );
}

export function endpointState({ disabledReason }: Pick<EndpointSummary, 'disabledReason'>): HtmlContent {
  if (disabledReason === null) return badge('good', 'enabled');
  if (disabledReason === 'failed') return badge('bad', 'disabled after a failure');
  return badge('notice', disabledReason === 'gone' ? 'disabled after 410' : 'disabled');
}

export function addressText(address: string | undefined): HtmlContent {
  return address ?? 'unknown: its secret key is missing';
}

export function pendingText({ pending, oldestPendingSeconds }: EndpointSummary): string {
  return pending === 0 ? '0' : `${pending}, the oldest for ${duration(oldestPendingSeconds)}`;
}
