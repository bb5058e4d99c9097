import { inOneTransaction } from '../../db/in-one-transaction.ts';
import { html } from '../../html/html.ts';
import { dropWarning } from '../../operations/advice.ts';
import { type Dropped, dropInTransaction, findOpenOperation, seenState } from '../../operations/operator.ts';
import { recordActivity } from '../activity.ts';
import { page, postForm } from '../frame.ts';
import { type ConsoleResponse, linkTo, type SignedIn, seeOther } from '../page.ts';
import { notice } from '../parts.ts';
import { noSuchOperation, readTarget } from './operation.ts';
import { stateOf } from './operations.ts';

/** Asks once more before an operation is dropped. */
export async function confirmDrop(context: SignedIn): Promise<ConsoleResponse> {
  const { params, query } = context.request;
  const operation = await findOpenOperation(context.deps.services.db, params.id ?? '');
  if (!operation) return noSuchOperation(context);
  const { id, emr, careUnitId } = operation;
  const isUnconfirmed = query.get('result') === 'unconfirmed';
  return page(context, {
    title: isUnconfirmed ? 'Error: Drop this operation?' : 'Drop this operation?',
    section: 'operations',
    content: html`${
      isUnconfirmed && notice('bad', 'Nothing was changed. Check the EHR first, and confirm that you have done so.')
    }<div class="title"><h1>Drop this operation?</h1>${stateOf(operation)}</div>
<p><code>${id}</code> in ${emr} / ${careUnitId}</p>
<p class="advice bad">${dropWarning}</p>
${postForm(
  context,
  `operations/${id}/drop`,
  html`<input type="hidden" name="seen" value="${seenState(operation)}">
<label class="check"><input type="checkbox" name="checked" value="yes" required> I have checked the EHR, and nothing is left to do</label>
<div class="actions"><button class="danger">Drop the operation</button>
<a class="button secondary" href="${linkTo(context, `operations/${id}`)}">Cancel</a></div>`,
)}`,
  });
}

/** Drops an operation. */
export async function drop(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const id = request.params.id ?? '';
  const path = `operations/${encodeURIComponent(id)}`;
  if (request.form.get('checked') !== 'yes') return seeOther(context, `${path}/drop?result=unconfirmed`);
  const outcome = await inOneTransaction(deps.services.db, async (tx) => {
    const dropped = await dropInTransaction(tx, deps.services.kinds, id, request.form.get('seen') ?? '');
    await recordActivity(tx, {
      operator: session.name,
      action: 'operation_drop',
      target: readTarget(id),
      outcome: dropped === 'dropped' ? 'done' : 'not_possible',
    });
    return dropped;
  });
  return seeOther(context, outcome === 'dropped' ? 'operations?result=dropped' : `${path}${results[outcome]}`);
}

const results: Readonly<Record<Exclude<Dropped, 'dropped'>, string>> = {
  'being worked on': '?result=being_worked_on',
  changed: '?result=changed',
  'not found': '',
};
