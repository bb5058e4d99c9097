import { type Html, html } from '../../html/html.ts';
import { adviceFor, dropMessages, dropWarning } from '../../unfinished-writes/advice.ts';
import {
  countOpenWrites,
  dropInTransaction,
  findOpenWrite,
  type OpenWrite,
  seenState,
  tryAllNow,
  tryNow,
} from '../../unfinished-writes/operator.ts';
import { plannedSteps } from '../../unfinished-writes/planned-steps.ts';
import { includesRole } from '../accounts/roles.ts';
import { act, NotPossible } from '../audit/act.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../frame/page.ts';
import { duration, facts, mistakeSummary, notice, time, words } from '../frame/parts.ts';
import { ehrInNeed } from '../overview/attention/ehrs.ts';
import { sentenceOf } from '../overview/attention/need.ts';
import { stateOf } from './operations.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'operations/:id', role: 'view', page: operationPage },
  { method: 'POST', path: 'operations/:id/retry', role: 'operate', page: retry },
  { method: 'POST', path: 'operations/try-now', role: 'operate', page: tryAll },
  { method: 'GET', path: 'operations/:id/drop', role: 'admin', page: confirmDrop },
  { method: 'POST', path: 'operations/:id/drop', role: 'admin', page: drop },
];

/** Why an action changed nothing. */
const obstacles = new Map([
  ['not_waiting', 'Nothing was changed: a gateway is working on the operation, or it has ended.'],
  ['being_worked_on', dropMessages['being worked on']],
  ['changed', dropMessages.changed],
]);

/** One operation: what it does, how far it is, and what an operator can do. */
async function operationPage(context: SignedIn): Promise<ConsoleResponse> {
  const { services } = context.deps;
  const { params, query } = context.request;
  const operation = await findOpenWrite(services.db, params.id ?? '');
  if (!operation) return noSuchOperation(context);
  const steps = await plannedSteps(services, operation.id);
  const { text, needsOperator } = adviceFor(operation);
  const ehr = services.ehrs.get(operation.emr);
  const need = ehr && (await ehrInNeed(context, ehr, []));
  return consolePage(context, {
    title: 'Operation',
    section: 'operations',
    content: html`${resultOf(query.get('result'), operation)}<p><a href="${linkTo(context, 'operations')}">All operations</a></p>
<div class="title"><h1>Operation</h1>${stateOf(operation)}</div>
<p><code>${operation.id}</code></p>
<p class="${needsOperator ? 'advice bad' : 'advice'}">${text}${
      needsOperator && ' Fix the cause and retry, or check the appointment in the EHR and drop the operation.'
    }</p>
${need && html`<p class="advice bad">${ehrOf(context, operation.emr, need.subject)}: ${sentenceOf(need)}</p>`}
${actions(context, operation)}
<h2>Steps</h2>
${stepList(operation, steps)}
<h2>Details</h2>
${details(operation)}`,
  });
}

/** A link to the page of an EHR of the configuration. */
function ehrOf(context: SignedIn, id: string, name: string): Html {
  return html`<a href="${linkTo(context, `connections/${id}`)}">${name}</a>`;
}

function resultOf(result: string | null, { state }: OpenWrite): Html | false {
  const obstacle = obstacles.get(result ?? '');
  if (obstacle !== undefined) return notice('bad', obstacle);
  // A reload can find it suspended again.
  if (result !== 'retried' || state === 'suspended') return false;
  return notice('good', 'The operation is due. A running gateway tries it within seconds, if the EHR can be reached.');
}

function noSuchOperation(context: SignedIn): ConsoleResponse {
  return consolePage(context, {
    title: 'No such operation',
    section: 'operations',
    status: 404,
    content: html`<h1>No such operation</h1>
<p>No open operation has this id. It may have ended meanwhile.</p>
<p><a href="${linkTo(context, 'operations')}">All operations</a></p>`,
  });
}

function actions(context: SignedIn, { id, state, leaseExpiresAt }: OpenWrite): Html {
  const { role } = context.session;
  const waits = state === 'suspended' || (state !== 'monitored' && !leaseExpiresAt);
  const mayRetry = waits && includesRole(role, 'operate');
  const mayDrop = includesRole(role, 'admin') && !leaseExpiresAt;
  return html`<div class="actions">
${mayRetry && postForm(context, `operations/${id}/retry`, html`<button>Try now</button>`)}
${mayDrop && html`<a class="button secondary danger" href="${linkTo(context, `operations/${id}/drop`)}">Drop …</a>`}
</div>`;
}

/** Names nobody and no appointment: a step is what it does. */
function stepList(operation: OpenWrite, steps: readonly string[] | undefined): Html {
  const { createdAt, firstSentAt, lastSentAt, nextAttemptAt, suspendedAt, attempt } = operation;
  const events = [
    ['Request', createdAt],
    ['First call to the EHR', firstSentAt],
    ['Last call to the EHR', lastSentAt?.getTime() === firstSentAt?.getTime() ? null : lastSentAt],
    ['Suspended', suspendedAt],
    ['Next attempt', nextAttemptAt],
  ] as const;
  return html`${plannedList(operation, steps)}
${facts(events.flatMap(([name, at]) => (at ? [[name, time(at)] as const] : [])))}
${attempt > 0 && html`<p class="quiet">Restarted ${attempt === 1 ? 'once' : `${attempt} times`} after compensation.</p>`}`;
}

function plannedList({ kind }: OpenWrite, steps: readonly string[] | undefined): Html {
  if (!steps) return html`<p>The plan cannot be read: the gateway lacks the secret key that encrypted it.</p>`;
  if (steps.length === 0) return html`<p>One write of the kind ${words(kind)}.</p>`;
  return html`<ol class="steps">${steps.map((step) => html`<li>${step}</li>`)}</ol>`;
}

function details(operation: OpenWrite): Html {
  const { emr, careUnitId, kind, clientId, isKeyed, hasResponse, reportedUnknown } = operation;
  const sent = hasResponse ? 'stored response' : reportedUnknown ? 'outcome_unknown' : 'nothing';
  return facts([
    ['EHR and care unit', `${emr} / ${careUnitId}`],
    ['Kind', words(kind)],
    ['Client', clientId],
    ['Idempotency-Key', isKeyed ? 'yes' : 'no'],
    ['Sent to the caller', sent],
    ['Age', duration(operation.ageSeconds)],
    ['Failures in a row', String(operation.failures)],
    ['Last failure', operation.lastFailure ?? 'none'],
    ['Leased until', time(operation.leaseExpiresAt)],
    ['Holds and codes expire', time(operation.expiresAt)],
  ]);
}

/** Lets background jobs take an operation at once. */
async function retry(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const id = request.params.id ?? '';
  const about = { action: 'operation_retry', target: readTarget(id) } as const;
  const result = await act(deps.services.db, session, about, async (tx) => {
    if (!(await tryNow(tx, id))) throw new NotPossible('not_waiting');
  });
  const shown = result instanceof NotPossible ? result.reason : 'retried';
  return seeOther(context, `operations/${encodeURIComponent(id)}?result=${shown}`);
}

/** Lets background jobs take all operations of an EHR that are suspended, or all that are not. */
async function tryAll(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const emr = request.form.get('emr') ?? '';
  const isSuspended = request.form.get('suspended') === 'yes';
  // An operation can be of an EHR that the configuration no longer has.
  const target = (await countOpenWrites(deps.services.db)).find((it) => it.emr === emr)?.emr;
  const result = await act(deps.services.db, session, { action: 'operation_retry', target }, async (tx) => {
    if ((await tryAllNow(tx, emr, { isSuspended })) === 0) throw new NotPossible('nothing_waits');
  });
  return seeOther(context, `?result=${result instanceof NotPossible ? result.reason : 'due'}`);
}

/** An id for the activity list. Anything else could be personal data. */
export function readTarget(id: string): string | undefined {
  return /^[0-9a-f-]{36}$/i.test(id) ? id.toLowerCase() : undefined;
}

/** Asks once more before an operation is dropped. */
async function confirmDrop(context: SignedIn): Promise<ConsoleResponse> {
  const { params, query } = context.request;
  const operation = await findOpenWrite(context.deps.services.db, params.id ?? '');
  if (!operation) return noSuchOperation(context);
  const { id, emr, careUnitId } = operation;
  const isUnconfirmed = query.get('result') === 'unconfirmed';
  return consolePage(context, {
    title: isUnconfirmed ? 'Error: Drop this operation?' : 'Drop this operation?',
    section: 'operations',
    content: html`${
      isUnconfirmed &&
      mistakeSummary('Nothing was changed.', [['checked', 'Check the EHR first, and confirm that you have done so.']])
    }<div class="title"><h1>Drop this operation?</h1>${stateOf(operation)}</div>
<p><code>${id}</code> in ${emr} / ${careUnitId}</p>
<p class="advice bad">${dropWarning}</p>
${postForm(
  context,
  `operations/${id}/drop`,
  html`<input type="hidden" name="seen" value="${seenState(operation)}">
<label class="check"><input id="checked" type="checkbox" name="checked" value="yes" required> I have checked the EHR, and nothing is left to do</label>
<div class="actions"><button class="danger">Drop the operation</button>
<a class="button secondary" href="${linkTo(context, `operations/${id}`)}">Cancel</a></div>`,
)}`,
  });
}

/** Drops an operation. */
async function drop(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const id = request.params.id ?? '';
  const path = `operations/${encodeURIComponent(id)}`;
  if (request.form.get('checked') !== 'yes') return seeOther(context, `${path}/drop?result=unconfirmed`);
  const about = { action: 'operation_drop', target: readTarget(id) } as const;
  const result = await act(deps.services.db, session, about, async (tx) => {
    const outcome = await dropInTransaction(tx, deps.services.kinds, id, request.form.get('seen') ?? '');
    if (outcome !== 'dropped') throw new NotPossible(outcome.replaceAll(' ', '_'));
  });
  return seeOther(
    context,
    result instanceof NotPossible ? `${path}?result=${result.reason}` : 'operations?result=dropped',
  );
}
