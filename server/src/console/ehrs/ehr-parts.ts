import type { EhrConnection } from '../../ehr/connection.ts';
import type { EhrFigures } from '../../ehr/figures.ts';
import type { MinuteOfCalls } from '../../ehr/guard/call-history.ts';
import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { includesRole } from '../accounts/roles.ts';
import { postForm } from '../frame/frame.ts';
import { linkTo, type SignedIn } from '../frame/page.ts';
import { badge, duration, type Tone, time } from '../frame/parts.ts';
import { callsChart, latencyChart, milliseconds, sumUp } from '../overview/chart.ts';

type State = EhrFigures['state'];

const states: Readonly<Record<State, readonly [Tone, string]>> = {
  closed: ['good', 'Available'],
  half_open: ['notice', 'Trying again'],
  open: ['bad', 'Not available'],
  not_connected: ['bad', 'Not connected yet'],
  paused: ['notice', 'Paused'],
};

/** Whether an EHR can be used, as this process sees it. */
export function stateBadge({ state }: Pick<EhrFigures, 'state'>): Html {
  return badge(...states[state]);
}

/** When a call has last succeeded, such as `last success 12 s ago`. */
export function lastSuccess({
  lastSuccessAt,
  answeredFromMemoryAt,
}: Pick<EhrFigures, 'lastSuccessAt' | 'answeredFromMemoryAt'>): string {
  const success =
    lastSuccessAt === null
      ? 'no successful call yet'
      : `last success ${duration((Date.now() - lastSuccessAt.getTime()) / 1000)} ago`;
  return answeredFromMemoryAt ? `${success}, calls since then were answered from memory` : success;
}

/** The calls of the last five minutes beside those of the hour. */
export function callFigures(name: string, minutes: readonly MinuteOfCalls[]): Html {
  const columns = ['Calls', 'Failed', 'Typical', 'Slow'];
  const row = (period: string, { calls, failures, median, slowest }: ReturnType<typeof sumUp>) => {
    const latency = (value: number | null) => (value === null ? '–' : milliseconds(value));
    const values = [calls, calls === 0 ? '–' : percent(failures / calls), latency(median), latency(slowest)];
    return html`<tr><th scope="row">${period}</th>${values.map((value) => html`<td>${value}</td>`)}</tr>\n`;
  };
  return html`<table class="figures"><caption class="aside">Calls to ${name}</caption>
<thead><tr><td></td>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${row('5\u00a0min', sumUp(minutes.slice(-5)))}${row('1\u00a0h', sumUp(minutes))}</tbody></table>`;
}

/** The calls and their latency in the last hour. */
export function hourCharts(minutes: readonly MinuteOfCalls[]): Html {
  return html`<p class="legend"><span class="key calls"></span> Calls <span class="key failed"></span> failed</p>
${callsChart(minutes)}
<p class="legend"><span class="key median"></span> Typical latency <span class="key slow"></span> slow: 95 % took less</p>
${latencyChart(minutes)}`;
}

function percent(share: number): string {
  return share > 0 && share < 0.001 ? 'under 0.1\u00a0%' : `${Math.round(share * 1000) / 10}\u00a0%`;
}

/** A link to the page of an EHR. */
export function ehrLink(context: SignedIn, { id, name }: Pick<EhrConnection, 'id' | 'name'>): Html {
  return html`<a href="${linkTo(context, `connections/${id}`)}">Details<span class="aside"> of ${name}</span></a>`;
}

/** The button that checks a connection, for those who may. */
export function checkForm(
  context: SignedIn,
  { id, name }: Pick<EhrConnection, 'id' | 'name'>,
  label = 'Check',
): HtmlContent {
  if (!includesRole(context.session.role, 'operate')) return false;
  const button = html`<button class="small secondary">${label}<span class="aside"> ${name}</span></button>`;
  return postForm(context, `connections/${id}`, button);
}

/** The button that makes a report on a connection, for those who may. */
export function reportForm(context: SignedIn, { id, name }: Pick<EhrConnection, 'id' | 'name'>): HtmlContent {
  if (!includesRole(context.session.role, 'operate')) return false;
  const button = html`<button class="small secondary">Report to hand over<span class="aside">: ${name}</span></button>`;
  return postForm(context, `connections/${id}/report`, button);
}

/** The button that notes what has changed in an EHR, for those who may. */
export function noteForm(context: SignedIn, { id, name }: Pick<EhrConnection, 'id' | 'name'>): HtmlContent {
  if (!includesRole(context.session.role, 'operate')) return false;
  const button = html`<button class="small secondary">Noted<span class="aside">: changes of ${name}</span></button>`;
  return postForm(context, `connections/${id}/note-changes`, button);
}

/** When a pause ends. */
export function endOf({ until }: NonNullable<EhrFigures['pause']>): HtmlContent {
  return until ? time(until) : 'an operator resumes it';
}

/** The button that ends the pause of an EHR, for those who may. */
export function resumeForm(context: SignedIn, { id, name }: Pick<EhrConnection, 'id' | 'name'>): HtmlContent {
  if (!includesRole(context.session.role, 'operate')) return false;
  const button = html`<button class="small">Resume<span class="aside"> ${name}</span></button>`;
  return postForm(context, `connections/${id}/resume`, button);
}

/** The button that lets all suspended or all other operations of an EHR be tried now, for those who may. */
export function tryAllForm(
  context: SignedIn,
  { emr, isSuspended, count }: { readonly emr: string; readonly isSuspended: boolean; readonly count: number },
): HtmlContent {
  if (!includesRole(context.session.role, 'operate')) return false;
  return postForm(
    context,
    'operations/try-now',
    html`<input type="hidden" name="emr" value="${emr}"><input type="hidden" name="suspended" value="${isSuspended ? 'yes' : 'no'}">
<button class="small">Try ${count === 1 ? 'it' : 'them'} now<span class="aside">: operations of ${emr}</span></button>`,
  );
}
