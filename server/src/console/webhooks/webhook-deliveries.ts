import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { type Delivery, listDeliveries } from '../../webhooks/delivery-store.ts';
import { failureText } from '../../webhooks/failure-text.ts';
import type { EndpointSummary } from '../../webhooks/operator.ts';
import { includesRole } from '../accounts/roles.ts';
import { postForm } from '../frame/frame.ts';
import { linkTo, type SignedIn } from '../frame/page.ts';
import { badge, counted, type Tone, table, time } from '../frame/parts.ts';

const perPage = 50;
/** More deliveries than these that are the same but for their event and times are folded. */
const mostUnfolded = 3;
const tones: Readonly<Record<Delivery['state'], Tone>> = { pending: 'notice', delivered: 'good', failed: 'bad' };
/** With host and port of the endpoint, if its URL can be decrypted. */
type Listed = EndpointSummary & { readonly address: string | undefined };
const filters = ['all', 'pending', 'failed'] as const;

/** Deliveries to an endpoint, the newest first: all, or those in one state. */
export async function deliveryList(
  context: SignedIn,
  summary: EndpointSummary,
  address: string | undefined,
): Promise<Html> {
  const endpoint = { ...summary, address };
  const { query } = context.request;
  const filter = filters.find((it) => it === query.get('state')) ?? 'all';
  const before = /^\d{1,15}$/.exec(query.get('before') ?? '')?.[0];
  const found = await listDeliveries(context.deps.services.db, endpoint.id, {
    state: filter === 'all' ? undefined : filter,
    before: before === undefined ? undefined : Number(before),
    limit: perPage + 1,
  });
  const shown = found.slice(0, perPage);
  const last = found.length > perPage ? shown.at(-1) : undefined;
  const linkOf = (state: string, more = '') =>
    linkTo(context, `webhooks/${endpoint.id}?state=${state}${more}#deliveries`);
  return html`<p class="filters"><span>Show:</span> ${filters.map((it) =>
    it === filter ? html`<strong>${it}</strong> ` : html`<a href="${linkOf(it)}">${it}</a> `,
  )}</p>
${shown.length === 0 ? html`<p class="empty">No ${filter === 'all' ? '' : `${filter} `}deliveries.</p>` : deliveryGroups(context, endpoint, shown)}
${
  (before !== undefined || last) &&
  html`<p class="pages">${before !== undefined && html`<a href="${linkOf(filter)}">Newest</a> `}${
    last && html`<a href="${linkOf(filter, `&before=${last.sequence}`)}">Older</a>`
  }</p>`
}`;
}

/** What happened to many events of a type is one line. The others are listed below. */
function deliveryGroups(context: SignedIn, endpoint: Listed, deliveries: readonly Delivery[]): Html {
  const groups = Map.groupBy(deliveries, (it) => [it.state, it.event_type, failureOf(endpoint, it)].join());
  const isFolded = (it: readonly Delivery[]) => it.length > mostUnfolded;
  const others = new Set([...groups.values()].filter((it) => !isFolded(it)).flat());
  return html`${[...groups.values()].filter(isFolded).map((it) => foldedGroup(context, endpoint, it))}${
    others.size > 0 &&
    deliveryTable(
      context,
      endpoint,
      deliveries.filter((it) => others.has(it)),
    )
  }`;
}

function foldedGroup(context: SignedIn, endpoint: Listed, group: readonly Delivery[]): Html | false {
  const [newest] = group;
  const oldest = group.at(-1);
  if (!newest || !oldest) return false;
  const cause = newest.failure_reason === null ? '' : `, ${failureOf(endpoint, newest)}`;
  return html`<details class="group">
<summary>${badge(tones[newest.state], newest.state)} ${breakable(newest.event_type)}: ${counted(group.length, 'event')}${cause}, since ${time(oldest.created_at)}</summary>
${deliveryTable(context, endpoint, group)}
</details>
`;
}

function deliveryTable(context: SignedIn, endpoint: Listed, deliveries: readonly Delivery[]): Html {
  const maySend = includesRole(context.session.role, 'operate') && endpoint.disabledReason === null;
  return table(
    'The newest first',
    ['State', 'Event', 'Created', 'Attempts', 'Last failure', 'Next'],
    deliveries.map((delivery) => [
      badge(tones[delivery.state], delivery.state),
      html`${breakable(delivery.event_type)}<br><code class="quiet">${delivery.event_id}</code>`,
      time(delivery.created_at),
      delivery.attempts,
      failureOf(endpoint, delivery),
      html`${time(delivery.state === 'pending' ? delivery.next_attempt_at : null, maySend ? '' : '–')}${
        maySend && again(context, endpoint, delivery)
      }`,
    ]),
  );
}

/** A type of event, which a narrow column breaks after its dot. */
function breakable(type: string): HtmlContent {
  return type.split('.').map((part, index) => (index === 0 ? part : html`.<wbr>${part}`));
}

function failureOf({ address }: Listed, { failure_reason: reason, response_status: status }: Delivery): string {
  return reason === null ? '–' : failureText(reason, status, address);
}

function again(context: SignedIn, endpoint: EndpointSummary, { id, event_id, state }: Delivery): Html {
  const text = state === 'pending' ? 'Deliver now' : 'Deliver again';
  return postForm(
    context,
    `webhooks/${endpoint.id}/deliveries/${id}`,
    html`<button class="small secondary" aria-label="${text}: event ${event_id}">${text}</button>`,
  );
}
