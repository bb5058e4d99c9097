import { html } from '../../html/html.ts';
import { dropWarning } from '../../unfinished-operations/advice.ts';
import { dropInTransaction, findOpenOperation, seenState } from '../../unfinished-operations/operator.ts';
import { act, NotPossible } from '../act.ts';
import { consolePage, postForm } from '../frame.ts';
import { type ConsoleResponse, linkTo, type SignedIn, seeOther } from '../page.ts';
import { mistakeSummary } from '../parts.ts';
import type { Route } from '../route.ts';
import { noSuchOperation, readTarget } from './operation.ts';
import { stateOf } from './operations.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'operations/:id/drop', role: 'admin', page: confirmDrop },
  { method: 'POST', path: 'operations/:id/drop', role: 'admin', page: drop },
];

/** Asks once more before an operation is dropped. */
async function confirmDrop(context: SignedIn): Promise<ConsoleResponse> {
  const { params, query } = context.request;
  const operation = await findOpenOperation(context.deps.services.db, params.id ?? '');
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
