import type { ConfiguredEmr } from '../../config/configuration.ts';
import { certificateFinding } from '../../ehr/certificates.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import type { EhrFigures } from '../../ehr/figures.ts';
import type { FailedCall } from '../../ehr/guard/call-history.ts';
import { selectStored } from '../../ehr/stored/stored-emrs.ts';
import { type Html, html } from '../../html/html.ts';
import { countOpenWrites } from '../../unfinished-writes/operator.ts';
import { groupStuckWrites } from '../../unfinished-writes/stuck-writes.ts';
import { includesRole } from '../accounts/roles.ts';
import { consolePage } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../frame/page.ts';
import { counted, facts, table, time } from '../frame/parts.ts';
import { ehrInNeed } from '../overview/attention/ehrs.ts';
import { sentenceOf } from '../overview/attention/need.ts';
import { sumUp } from '../overview/chart.ts';
import { conformanceLink } from './conformance-parts.ts';
import { resultOf } from './connections.ts';
import { callFigures, checkForm, hourCharts, lastSuccess, reportForm, resumeForm, stateBadge } from './ehr-parts.ts';
import { pausePart } from './pause.ts';
import { unmappedServices } from './unmapped-services.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'connections/:emr', role: 'view', page: connectionPage },
];

/** One EHR: whether it can be used, its calls, and what waits for it. */
async function connectionPage(context: SignedIn): Promise<ConsoleResponse> {
  const { emrs, services } = context.deps;
  const emr = emrs.find(({ id }) => id === context.request.params.emr);
  const ehr = emr && services.ehrs.get(emr.id);
  if (!emr || !ehr) return seeOther(context, 'connections?result=unknown');
  return consolePage(context, {
    title: emr.name,
    section: 'connections',
    content: html`${resultOf(context)}<p><a href="${linkTo(context, 'connections')}">All connections</a></p>
${await about(context, emr, ehr)}`,
  });
}

async function about(context: SignedIn, emr: ConfiguredEmr, ehr: EhrConnection) {
  const figures = context.deps.readFigures(ehr);
  const need = await ehrInNeed(context, ehr, await groupStuckWrites(context.deps.services));
  const open = (await countOpenWrites(context.deps.services.db)).filter((it) => it.emr === emr.id);
  const waiting = open.map(({ state, count }) => `${counted(count, 'operation')} ${state}`).join(', ');
  const certificate = certificateFinding(ehr.tls, context.deps.now());
  return html`<div class="title"><h1>${emr.name}</h1>${stateBadge(figures)}
<p class="quiet"><a href="${linkTo(context, `connections/${emr.id}`)}">Refresh</a></p></div>
<p class="quiet"><code>${emr.id}</code> · ${lastSuccess(figures)}</p>
${need && html`<p class="advice${!figures.pause && ' bad'}">${sentenceOf(need)}</p>`}
<div class="actions">${figures.pause && resumeForm(context, emr)}${checkForm(context, emr, 'Check the connection')}${reportForm(context, emr)}</div>
${(await isStored(context, emr.id)) && html`<p><a href="${linkTo(context, `connections/${emr.id}/settings`)}">Settings, care units, removal</a></p>`}
<p>${conformanceLink(context, emr)}</p>
<h2>Calls</h2>
<p class="quiet">As seen by this gateway process since its start.</p>
<div class="sheet">${callFigures(emr.name, figures.minutes)}
${sumUp(figures.minutes).calls === 0 ? html`<p class="empty">No calls in the last hour.</p>` : hourCharts(figures.minutes)}</div>
${callLists(figures)}
${unreadable(ehr)}
<h2>Details</h2>
${facts([
  ['Connector', emr.connector],
  ...(certificate ? [['Client certificate', certificate.detail] as const] : []),
  ['Care units', emr.care_units.map(({ name }) => name).join(', ')],
  ['Services without a mapping', await unmappedServices(context, ehr)],
  ['Unfinished operations', waiting === '' ? 'none' : html`<a href="${linkTo(context, 'operations')}">${waiting}</a>`],
])}
${pausePart(context, emr)}`;
}

/** Whether admins change the EHR in the console: it is not in the configuration file. */
async function isStored({ deps, session }: SignedIn, id: string): Promise<boolean> {
  if (!includesRole(session.role, 'admin')) return false;
  return (await selectStored(deps.services.db).where('id', '=', id).executeTakeFirst()) !== undefined;
}

/** The calls by operation, and the last errors: those with the same cause are one row. */
function callLists({ operations, failedCalls }: EhrFigures): Html {
  return html`${
    operations.length > 0 &&
    table(
      'Calls of the last hour by operation of the connector',
      ['Operation', 'Calls', 'Failed'],
      operations.map(({ operation, calls, failures }) => [html`<code>${operation}</code>`, calls, failures]),
    )
  }<h2>Last errors</h2>
${
  failedCalls.length === 0
    ? html`<p class="empty">No call has failed since the start.</p>`
    : table(
        `The last ${counted(failedCalls.length, 'failed call')}, by cause`,
        ['Cause', 'Operations', 'Calls', 'Last', 'First'],
        [...Map.groupBy(failedCalls, ({ cause }) => cause)].map(([cause, calls]) => causeRow(cause, calls)),
      )
}`;
}

/** Records of a day that this process has left out. */
function unreadable(ehr: EhrConnection): Html | false {
  const records = ehr.unreadableRecords();
  if (records.length === 0) return false;
  return html`<h2>Records that cannot be read</h2>
<p class="quiet">Left out of responses within the last 24 hours, each counted once. Other records are shown.</p>
${table(
  'Records that this gateway process could not read',
  ['Type', 'Records', 'First fault at', 'Since'],
  records.map(({ type, count, path, since }) => [
    html`<code>${type}</code>`,
    count,
    html`<code>${path}</code>`,
    time(since),
  ]),
)}`;
}

/** @param calls the newest first */
function causeRow(cause: string, calls: readonly FailedCall[]) {
  const operations = [...new Set(calls.map(({ operation }) => operation))];
  return [
    cause,
    operations.map((operation, index) => html`${index > 0 && ', '}<code>${operation}</code>`),
    calls.length,
    time(calls[0]?.at ?? null),
    time(calls.at(-1)?.at ?? null),
  ];
}
