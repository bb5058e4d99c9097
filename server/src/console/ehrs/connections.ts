import { ConnectorError, type ProbeFinding } from '@crossward/connector-kit';
import { stringify } from 'yaml';
import type { ConfiguredEmr } from '../../config/configuration.ts';
import { allOrNothing, patientsBy } from '../../ehr/abilities.ts';
import { checkConnection, connectionFindings, type EmrCheck, isConnectionWell } from '../../ehr/check-connection.ts';
import { noteChanges } from '../../ehr/daily-check.ts';
import type { EhrFigures } from '../../ehr/figures.ts';
import { type StoredEmr, selectStored } from '../../ehr/stored/stored-emrs.ts';
import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { includesRole } from '../accounts/roles.ts';
import { act, NotPossible, record } from '../audit/act.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../frame/page.ts';
import { badge, facts, notice, type Tone, table, time } from '../frame/parts.ts';
import { checkForm, stateBadge } from './ehr-parts.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'connections', role: 'view', page: connectionsPage },
  { method: 'POST', path: 'connections/:emr', role: 'operate', page: checkOneConnection },
  { method: 'POST', path: 'connections/:emr/note-changes', role: 'operate', page: noteOneConnection },
];

const tones: Readonly<Record<ProbeFinding['status'], Tone>> = {
  ok: 'good',
  note: 'neutral',
  warning: 'notice',
  problem: 'bad',
  untried: 'neutral',
};

/** EHRs whose check is running in this process. */
const running = new Set<string>();

/** The connections: whether each EHR can be used, and its check. */
async function connectionsPage(context: SignedIn): Promise<ConsoleResponse> {
  const { emrs, services, readFigures } = context.deps;
  const mayCheck = includesRole(context.session.role, 'operate');
  const isAdmin = includesRole(context.session.role, 'admin');
  const stored = isAdmin ? await selectStored(services.db).execute() : [];
  const drafts = stored.filter(({ id, isOpen }) => !(isOpen && services.ehrs.has(id)));
  return consolePage(context, {
    title: 'Connections',
    section: 'connections',
    content: html`${resultOf(context)}<h1>Connections</h1>
<p>A check asks the server of an EHR what it can do, and recommends settings. What it tries out in the EHR it takes back. It
can take a minute.${!mayCheck && ' It needs the role operate.'}</p>
${isAdmin && html`<div class="actions"><a class="button" href="${linkTo(context, 'new-connection')}">New connection</a></div>`}
${isAdmin && notInUse(context, drafts)}
<h2>EHRs</h2>
${table(
  'EHRs of the configuration, as this gateway process sees them',
  ['EHR', 'State', 'Last success', 'Last error', 'Connector', 'Check'],
  emrs.map((emr) => {
    const ehr = services.ehrs.get(emr.id);
    const figures = ehr && readFigures(ehr);
    return [
      html`<a href="${linkTo(context, `connections/${emr.id}`)}">${emr.name}</a><br><code class="quiet">${emr.id}</code>`,
      figures && stateBadge(figures),
      figures && time(figures.lastSuccessAt, 'none yet'),
      lastError(figures),
      html`<code>${emr.connector}</code>`,
      mayCheck ? checkForm(context, emr) : '–',
    ];
  }),
)}`,
  });
}

/** Stored EHRs that this gateway does not use: drafts, and those with a mistake. */
function notInUse(context: SignedIn, emrs: readonly Pick<StoredEmr, 'id' | 'isOpen' | 'changedAt'>[]): Html | false {
  if (emrs.length === 0) return false;
  return html`<h2>Not in use</h2>
${table(
  'EHRs of the database that this gateway does not use',
  ['EHR', 'State', 'Changed'],
  emrs.map(({ id, isOpen, changedAt }) => [
    html`<a href="${linkTo(context, `connections/${id}/settings`)}"><code>${id}</code></a>`,
    isOpen ? badge('bad', 'Cannot be used') : badge('notice', 'Draft'),
    time(changedAt),
  ]),
)}`;
}

function lastError(figures: EhrFigures | undefined): HtmlContent {
  const [last] = figures?.failedCalls ?? [];
  return last ? html`${last.cause}<br><span class="quiet">${time(last.at)}</span>` : 'none';
}

/** Why a check was not made. */
export function resultOf({ request }: SignedIn): Html | false {
  const result = request.query.get('result');
  return (
    (result === 'running' && notice('bad', 'A check of this EHR is already running. Wait until it has ended.')) ||
    (result === 'unknown' && notice('bad', 'The configuration has no EHR with this id.')) ||
    (result === 'removed' && notice('good', 'The EHR is removed. Gateways follow within 5 seconds.')) ||
    (result === 'paused' && notice('good', 'The EHR is paused. Other gateway processes follow within seconds.')) ||
    (result === 'resumed' &&
      notice('good', 'The EHR is in use again. Other gateway processes follow within seconds.')) ||
    (result === 'noted' && notice('good', 'The changes of the EHR are noted.')) ||
    (result === 'nothing_changed' && notice('bad', 'Nothing has changed since somebody last noted it.')) ||
    (result === 'not_paused' && notice('bad', 'The EHR is not paused.')) ||
    (result === 'no_duration' && notice('bad', 'Nothing was changed. Choose how long to pause the EHR.'))
  );
}

/** Runs `emr check`. */
function checkOneConnection(context: SignedIn): Promise<ConsoleResponse> {
  return checkNow(context, (check, emr) => resultPage(context, check, emr));
}

/** Checks the EHR of a request, unless a check of it is running, and shows the result. */
export async function checkNow(
  context: SignedIn,
  show: (check: EmrCheck, emr: ConfiguredEmr) => ConsoleResponse | Promise<ConsoleResponse>,
): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const emr = deps.emrs.find(({ id }) => id === request.params.emr);
  const module = deps.connectors.find(({ name }) => name === emr?.connector);
  if (!emr || !module) return seeOther(context, 'connections?result=unknown');
  if (running.has(emr.id)) return seeOther(context, `connections/${emr.id}?result=running`);
  running.add(emr.id);
  try {
    const check = await checkConnection({ emr, module }, deps.database).catch((error: unknown): EmrCheck => {
      return { emr: emr.id, connector: module.name, claims: null, error: describeFailure(error) };
    });
    await record(deps.services.db, session, {
      action: 'connection_check',
      target: emr.id,
      outcome: isConnectionWell(check) ? 'done' : 'problem',
    });
    return show(check, emr);
  } finally {
    running.delete(emr.id);
  }
}

/** Notes what has changed in an EHR: it needs no attention any more. */
async function noteOneConnection(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const emr = deps.emrs.find(({ id }) => id === request.params.emr);
  if (!emr) return seeOther(context, 'connections?result=unknown');
  const about = { action: 'emr_changes_note', target: emr.id } as const;
  const result = await act(deps.services.db, session, about, async (tx) => {
    if (!(await noteChanges(tx, emr.id))) throw new NotPossible('nothing_changed');
  });
  return seeOther(context, `connections/${emr.id}?result=${result instanceof NotPossible ? result.reason : 'noted'}`);
}

/** A file of the connection, such as a certificate, may have become unreadable since the start. */
export function describeFailure(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  if (error instanceof ConnectorError) return `${error.kind}: ${error.message}`;
  throw error;
}

function resultPage(context: SignedIn, check: EmrCheck, { id, name }: ConfiguredEmr): ConsoleResponse {
  const { connector, probe, claims, error } = check;
  const recommended = probe?.recommendedSettings ?? {};
  return consolePage(context, {
    title: `Check of ${name}`,
    section: 'connections',
    content: html`${isConnectionWell(check) ? notice('good', success(check)) : notice('bad', `${name} has a problem.`)}
<p><a href="${linkTo(context, `connections/${id}`)}">${name}</a></p>
<h1>Check of ${name}</h1>
<p class="quiet"><code>${id}</code>, connector <code>${connector}</code></p>
<h2>Findings</h2>
${findingsTable(check)}
${claims ? capabilities(claims) : !hasProblem(probe?.findings) && html`<p class="advice bad">The connection cannot be opened: ${error}</p>`}
${
  Object.keys(recommended).length > 0 &&
  html`<h2>Recommended settings</h2>
<pre tabindex="0" role="region" aria-label="Recommended settings">${stringify({ settings: recommended }).trimEnd()}</pre>`
}
${postForm(context, `connections/${id}`, html`<div class="actions"><button class="secondary">Check again</button></div>`)}`,
  });
}

/** A probe that failed has told why already. */
function hasProblem(found: readonly ProbeFinding[] | undefined): boolean {
  return found?.some(({ status }) => status === 'problem') ?? false;
}

function success({ probe }: EmrCheck): string {
  return probe ? 'The connection works.' : 'The connector opens. Its server was not checked.';
}

/** What a check has found. */
export function findingsTable(check: EmrCheck): HtmlContent {
  const found = connectionFindings(check);
  return html`${!check.probe && html`<p>This connector has no probe; its server was not checked.</p>`}
${
  found.length > 0 &&
  table(
    'What the server says about itself',
    ['Result', 'Subject', 'Finding'],
    found.map(({ name, status, detail }) => [badge(tones[status], status), name, detail]),
  )
}`;
}

export function capabilities(claims: NonNullable<EmrCheck['claims']>): Html {
  return html`<h2>Capabilities</h2>
${facts([
  ['Patients', patientsBy(claims)],
  ['Resources by', claims.resourceIdentifierTypes.join(', ')],
  ['Operations', claims.operations.join(', ')],
  ['Changes', claims.changes.join(', ') || 'none'],
  ['All or nothing', allOrNothing(claims)],
])}`;
}
