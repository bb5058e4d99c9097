import type { EhrConnection } from '../../ehr/connection.ts';
import type { EhrFigures } from '../../ehr/figures.ts';
import type { MinuteOfCalls } from '../../ehr/guard/call-history.ts';
import { type Html, html } from '../../html/html.ts';
import { countFailed } from '../../messages/failed.ts';
import { readQueue } from '../../messages/read-queue.ts';
import { countOpenOperations, type OpenCount } from '../../unfinished-operations/operator.ts';
import { callsChart, latencyChart, milliseconds, sumUp } from '../chart.ts';
import { page } from '../frame.ts';
import { type ConsoleResponse, linkTo, type SignedIn } from '../page.ts';
import { badge, duration, time } from '../parts.ts';
import type { Route } from '../route.ts';

export const routes: readonly Route[] = [{ method: 'GET', path: '', role: 'view', page: overviewPage }];

const states = {
  closed: { tone: 'good', text: 'Available' },
  half_open: { tone: 'notice', text: 'Circuit breaker testing' },
  open: { tone: 'bad', text: 'Circuit breaker open' },
  not_connected: { tone: 'bad', text: 'Not connected yet' },
} as const satisfies Record<EhrFigures['state'], unknown>;

/** EHRs, operations and messages at a glance. */
async function overviewPage(context: SignedIn): Promise<ConsoleResponse> {
  const { services } = context.deps;
  const open = await countOpenOperations(services.db);
  const queue = await readQueue(services.db);
  const failed = await countFailed(services.db);
  const count = (...states: readonly string[]) => sum(open.filter(({ state }) => states.includes(state)));
  const suspended = count('suspended');
  const oldest = Math.max(...queue.map((it) => it.oldest));
  return page(context, {
    title: 'Overview',
    section: '',
    content: html`<div class="title"><h1>Overview</h1>
<p class="quiet">${time(new Date())} · <a href="${linkTo(context, '')}">Reload</a></p></div>
<ul class="tiles">
${tile(linkTo(context, 'operations'), suspended, 'suspended operations', suspended > 0 ? 'wait for an operator' : 'none waits for an operator', suspended > 0)}
${tile(linkTo(context, 'operations'), count('pending', 'compensating'), 'pending operations', `${count('monitored')} monitored`)}
${tile(linkTo(context, 'messages'), failed, 'failed messages', failed > 0 ? 'can be sent again' : 'none can be sent again', failed > 0)}
${tile(linkTo(context, 'messages'), sum(queue), 'messages in the queue', oldest > 0 ? `the oldest waits ${duration(oldest)}` : 'none waits')}
</ul>
<h2>EHRs</h2>
<p class="quiet">Circuit breaker, calls, errors and latency of the last hour, as seen by this gateway process since its start. Other processes have their own.</p>
<ul class="cards">
${[...services.ehrs.values()].map((ehr) => html`<li class="card">${ehrCard(ehr, context.deps.readFigures(ehr), open)}</li>\n`)}</ul>`,
  });
}

function tile(href: string, count: number, name: string, more: string, isBad = false): Html {
  return html`<li><a class="tile${isBad ? ' bad' : ''}" href="${href}"><strong>${count}</strong> ${name}<span class="quiet">${more}</span></a></li>`;
}

function ehrCard(ehr: EhrConnection, { state, lastSuccessAt, minutes }: EhrFigures, open: readonly OpenCount[]): Html {
  const { calls, failures, median, slowest } = sumUp(minutes);
  const own = open.filter(({ emr }) => emr === ehr.id);
  const suspended = sum(own.filter(({ state }) => state === 'suspended'));
  return html`<div class="card-head"><h3>${ehr.name}</h3>${badge(states[state].tone, states[state].text)}</div>
<p class="quiet"><code>${ehr.id}</code> · ${lastSuccess(lastSuccessAt)}</p>
<dl class="figures">
<div><dt>Calls</dt><dd>${calls}</dd></div>
<div><dt>Failed</dt><dd>${calls === 0 ? '–' : `${percent(failures / calls)}`}</dd></div>
<div><dt>Typical</dt><dd>${median === null ? '–' : milliseconds(median)}</dd></div>
<div><dt>Slow</dt><dd>${slowest === null ? '–' : milliseconds(slowest)}</dd></div>
</dl>
${calls === 0 ? html`<p class="empty">No calls in the last hour.</p>` : charts(minutes)}
<p class="quiet">${plural(sum(own), 'open operation')}${suspended > 0 ? `, ${suspended} suspended` : ''}</p>`;
}

function charts(minutes: readonly MinuteOfCalls[]): Html {
  return html`<p class="legend"><span class="key calls"></span> Calls <span class="key failed"></span> failed</p>
${callsChart(minutes)}
<p class="legend"><span class="key median"></span> Typical latency <span class="key slow"></span> slow: 95 % took less</p>
${latencyChart(minutes)}`;
}

function lastSuccess(lastSuccessAt: Date | null): string {
  return lastSuccessAt === null
    ? 'no successful call yet'
    : `last success ${duration((Date.now() - lastSuccessAt.getTime()) / 1000)} ago`;
}

function plural(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

function percent(share: number): string {
  return share > 0 && share < 0.001 ? 'under 0.1 %' : `${Math.round(share * 1000) / 10} %`;
}

function sum(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}
