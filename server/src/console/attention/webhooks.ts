import { html } from '../../html/html.ts';
import { type FailingEndpoint, listFailingEndpoints } from '../../webhooks/failing-endpoints.ts';
import { linkTo, type SignedIn } from '../page.ts';
import { counted, words } from '../parts.ts';
import type { Need } from './need.ts';

/** Webhook endpoints that do not get their events. */
export async function endpointsInNeed(context: SignedIn): Promise<Need[]> {
  const endpoints = await listFailingEndpoints(context.deps.services.db);
  return endpoints.map((endpoint) => ({
    subject: `Webhooks of ${endpoint.clientId}`,
    what: whatHappened(endpoint),
    since: endpoint.since,
    mend: html`<a href="${linkTo(context, `webhooks/${endpoint.id}`)}">Deliveries<span class="aside"> to ${endpoint.id}</span></a>`,
  }));
}

function whatHappened({ waiting, failed, failureReason, responseStatus }: FailingEndpoint): string {
  const parts = [
    ...(waiting > 0 ? [`${counted(waiting, 'event is', 'events are')} not delivered yet`] : []),
    ...(failed > 0 ? [`${counted(failed, 'delivery was', 'deliveries were')} given up`] : []),
  ];
  const cause = failureReason === 'status' ? `it responds with ${responseStatus}` : words(failureReason ?? '');
  return `${parts.join(', ')}${cause === '' ? '' : ` (${cause})`}`;
}
