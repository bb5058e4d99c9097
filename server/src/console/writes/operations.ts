import { html } from '../../html/html.ts';
import { isUuid } from '../../identifiers/uuid.ts';
import { findOpenWrite, listOpenWrites, type OpenWrite } from '../../unfinished-writes/operator.ts';
import { consolePage } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../frame/page.ts';
import { badge, duration, mistakeSummary, notice, type Tone, table, time, words } from '../frame/parts.ts';

export const routes: readonly Route[] = [{ method: 'GET', path: 'operations', role: 'view', page: operationsPage }];

const mostShown = 200;

const tones: Readonly<Record<OpenWrite['state'], Tone>> = {
  pending: 'notice',
  compensating: 'notice',
  monitored: 'neutral',
  suspended: 'bad',
};

export function stateOf({ state }: OpenWrite) {
  return badge(tones[state], state);
}

/** Open operations, and the search for one by its id. */
async function operationsPage(context: SignedIn): Promise<ConsoleResponse> {
  const { db } = context.deps.services;
  const { query } = context.request;
  const id = (query.get('id') ?? '').trim();
  if (isUuid(id) && (await findOpenWrite(db, id))) return seeOther(context, `operations/${id.toLowerCase()}`);
  const problem = query.has('id') ? problemWith(id) : undefined;
  const found = await listOpenWrites(db, mostShown + 1);
  return consolePage(context, {
    title: problem === undefined ? 'Operations' : 'Error: Operations',
    section: 'operations',
    content: html`${problem !== undefined && mistakeSummary('No operation was found.', [['id', problem]])}${
      query.get('result') === 'dropped' &&
      notice('good', 'The operation is dropped. Changes already made in the EHR remain.')
    }<h1>Operations</h1>
<p>Writes to an EHR that have not ended. Most end within seconds, without an operator.</p>
<form method="get" action="${linkTo(context, 'operations')}" class="search" role="search">
<label for="id">Operation id</label>
<div><input id="id" name="id" value="${id}" maxlength="100" autocomplete="off" spellcheck="false" required>
<button class="secondary">Search</button></div>
</form>
<h2>Open operations</h2>
${found.length === 0 ? html`<p class="empty">No open operations.</p>` : operationTable(context, found.slice(0, mostShown))}
${found.length > mostShown && html`<p class="quiet">Only the first ${mostShown} are shown: suspended ones first, then the oldest.</p>`}`,
  });
}

function problemWith(id: string): string {
  return isUuid(id)
    ? 'No open operation has this id. It has ended, or it is the id of something else.'
    : 'An operation id has the form 5b0f3c0a-1f8e-4f57-8f0c-6a3f6f0f1d2e. The log has it as operation_id.';
}

function operationTable(context: SignedIn, operations: readonly OpenWrite[]) {
  return table(
    'Suspended operations first, then by age',
    ['State', 'Operation', 'EHR and care unit', 'Kind', 'Age', 'Failures', 'Next attempt'],
    operations.map((operation) => [
      stateOf(operation),
      html`<a href="${linkTo(context, `operations/${operation.id}`)}"><code>${operation.id}</code></a>`,
      html`${operation.emr}<br><span class="quiet">${operation.careUnitId}</span>`,
      words(operation.kind),
      duration(operation.ageSeconds),
      operation.failures === 0 ? '0' : `${operation.failures}: ${operation.lastFailure ?? 'unknown'}`,
      time(operation.nextAttemptAt),
    ]),
  );
}
