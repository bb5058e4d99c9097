import { type HtmlContent, html } from '../../../html/html.ts';
import { groupStuckMessages } from '../../../messages/failed.ts';
import { readAddresses } from '../../../webhooks/endpoint-store.ts';
import { type FailingEndpoint, listFailingEndpoints } from '../../../webhooks/failing-endpoints.ts';
import { failureText } from '../../../webhooks/failure-text.ts';
import { includesRole } from '../../accounts/roles.ts';
import { postForm } from '../../frame/frame.ts';
import { linkTo, type SignedIn } from '../../frame/page.ts';
import { counted } from '../../frame/parts.ts';
import { channelName, sendAllForm } from '../../messages/channel-parts.ts';
import type { Need } from './need.ts';

const sentences = {
  failed: (count: number) => `${counted(count, 'message')} can be sent again after a failure`,
  delayed: (count: number) => `${counted(count, 'message has', 'messages have')} not left yet`,
  lost: (count: number) => `${counted(count, 'message')} failed and can no longer be sent, and none has left since`,
};

/** Messages that have failed or are late. */
export async function messagesInNeed(context: SignedIn): Promise<Need[]> {
  const groups = await groupStuckMessages(context.deps.services.db);
  return groups.map(({ channel, state, failureReason, count, since, patients }) => {
    const cause = failureReason === null ? '' : `: ${context.deps.messageFailure(channel, failureReason)}`;
    const name = channelName(channel);
    return {
      subject: name,
      what: `${sentences[state](count)}${cause}`,
      since,
      patients,
      mend: [
        state !== 'lost' && sendAllForm(context, { channel, isFailed: state === 'failed' }),
        html`<a href="${linkTo(context, 'messages')}">Messages<span class="aside"> by ${name}</span></a>`,
      ],
    };
  });
}

/** Webhook endpoints that do not get their events. */
export async function endpointsInNeed(context: SignedIn): Promise<Need[]> {
  const { db, keys } = context.deps.services;
  const endpoints = await listFailingEndpoints(db);
  if (endpoints.length === 0) return [];
  const addresses = await readAddresses(db, keys);
  const subjectOf = ({ id, clientId }: FailingEndpoint) => `Webhooks of ${clientId} to ${addresses.get(id) ?? id}`;
  return endpoints.map((endpoint) => ({
    subject: isAlone(endpoint, endpoints, subjectOf) ? subjectOf(endpoint) : `${subjectOf(endpoint)} (${endpoint.id})`,
    what: whatHappened(endpoint, addresses.get(endpoint.id)),
    since: endpoint.since,
    mend: [
      deliverNowForm(context, endpoint.id),
      html`<a href="${linkTo(context, `webhooks/${endpoint.id}`)}">Deliveries<span class="aside"> to ${endpoint.id}</span></a>`,
    ],
  }));
}

function deliverNowForm(context: SignedIn, id: string): HtmlContent {
  if (!includesRole(context.session.role, 'operate')) return false;
  const button = html`<button class="small">Deliver now<span class="aside">: events for ${id}</span></button>`;
  return postForm(context, `webhooks/${id}/deliver-now`, button);
}

/** Whether no other endpoint has its name, such as another path of the same server. */
function isAlone(
  endpoint: FailingEndpoint,
  all: readonly FailingEndpoint[],
  nameOf: (endpoint: FailingEndpoint) => string,
): boolean {
  return all.every((other) => other === endpoint || nameOf(other) !== nameOf(endpoint));
}

function whatHappened(
  { waiting, failed, failureReason, responseStatus }: FailingEndpoint,
  address: string | undefined,
): string {
  const parts = [
    ...(waiting > 0 ? [`${counted(waiting, 'event is', 'events are')} not delivered yet`] : []),
    ...(failed > 0 ? [`${counted(failed, 'delivery was', 'deliveries were')} given up`] : []),
  ];
  const cause = failureReason === null ? '' : `: ${failureText(failureReason, responseStatus, address)}`;
  return `${parts.join(', ')}${cause}`;
}
