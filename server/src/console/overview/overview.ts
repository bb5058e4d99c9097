import type { EhrConnection } from '../../ehr/connection.ts';
import type { EhrFigures } from '../../ehr/figures.ts';
import { type Html, html } from '../../html/html.ts';
import { countFailed } from '../../messages/failed.ts';
import { readQueue } from '../../messages/read-queue.ts';
import { countOpenWrites, type OpenCount } from '../../unfinished-writes/operator.ts';
import { callFigures, hourCharts, lastSuccess, stateBadge } from '../ehrs/ehr-parts.ts';
import { consolePage } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn } from '../frame/page.ts';
import { counted, duration, notice, time } from '../frame/parts.ts';
import { listNeeds, needsList } from './attention/attention.ts';
import { sumUp } from './chart.ts';
import { historyOfDay } from './history.ts';

export const routes: readonly Route[] = [{ method: 'GET', path: '', role: 'view', page: overviewPage }];

/** What needs attention, then EHRs, operations and messages at a glance. */
async function overviewPage(context: SignedIn): Promise<ConsoleResponse> {
  const { services } = context.deps;
  const open = await countOpenWrites(services.db);
  const queue = await readQueue(services.db);
  const failed = await countFailed(services.db);
  const count = (...states: readonly string[]) => sum(open.filter(({ state }) => states.includes(state)));
  const monitored = count('monitored');
  const oldest = Math.max(...queue.map((it) => it.oldest));
  return consolePage(context, {
    title: 'Overview',
    section: '',
    content: html`${resultOf(context.request.query)}<div class="title"><h1>Overview</h1>
<p class="quiet">${time(new Date())} · <a href="${linkTo(context, '')}">Refresh</a></p></div>
${needsList(await listNeeds(context))}
<h2>Work</h2>
<ul class="tiles">
${[
  tile(linkTo(context, 'operations'), count('suspended'), 'suspended operation', {
    more: count('suspended') > 0 && 'for an operator to look at',
    isBad: true,
  }),
  tile(linkTo(context, 'operations'), count('pending', 'compensating'), 'pending operation', {
    more: monitored > 0 && `${monitored} monitored`,
  }),
  tile(linkTo(context, 'messages'), failed.count, 'failed message', {
    more:
      failed.count > 0 && `in the last 24 hours${failed.sendable > 0 ? `, ${failed.sendable} can be sent again` : ''}`,
    isBad: failed.sendable > 0,
  }),
  tile(linkTo(context, 'messages'), sum(queue), 'queued message', {
    more: oldest > 0 && `the oldest waits ${duration(oldest)}`,
    isBad: oldest > 60,
  }),
]}
</ul>
<h2>EHRs</h2>
<p class="quiet">As seen by this gateway process since its start. Other processes have their own figures.</p>
<ul class="cards">
${[...services.ehrs.values()].map((ehr) => html`<li class="card">${ehrCard(context, ehr, open)}</li>\n`)}</ul>
${await historyOfDay(context)}`,
  });
}

function resultOf(query: URLSearchParams): Html | false {
  switch (query.get('result')) {
    case 'due':
      return notice(
        'good',
        'The operations are due. A running gateway tries them within seconds, if the EHR can be reached.',
      );
    case 'nothing_waits':
      return notice('bad', 'Nothing was changed: the operations have ended, or a gateway is working on them.');
    default:
      return false;
  }
}

function tile(
  href: string,
  count: number,
  noun: string,
  { more, isBad = false }: { readonly more: string | false; readonly isBad?: boolean },
): Html {
  const kind = count === 0 ? ' zero' : isBad ? ' bad' : '';
  const name = counted(count, noun).slice(String(count).length + 1);
  return html`<li><a class="tile${kind}" href="${href}"><strong>${count}</strong> ${name}${
    more && html`<span class="quiet">${more}</span>`
  }</a></li>\n`;
}

function ehrCard(context: SignedIn, ehr: EhrConnection, open: readonly OpenCount[]): Html {
  const figures: EhrFigures = context.deps.readFigures(ehr);
  const { calls } = sumUp(figures.minutes);
  const own = open.filter(({ emr }) => emr === ehr.id);
  const suspended = sum(own.filter(({ state }) => state === 'suspended'));
  return html`<div class="card-head"><h3><a href="${linkTo(context, `connections/${ehr.id}`)}">${ehr.name}</a></h3>${stateBadge(figures)}</div>
<p class="quiet"><code>${ehr.id}</code> · ${lastSuccess(figures)}</p>
${callFigures(ehr.name, figures.minutes)}
<div>${calls === 0 ? html`<p class="empty">No calls in the last hour.</p>` : hourCharts(figures.minutes)}</div>
<p class="quiet">${counted(sum(own), 'open operation')}${suspended > 0 ? `, ${suspended} suspended` : ''}</p>`;
}

function sum(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}
