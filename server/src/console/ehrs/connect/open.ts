import { emrMistakeText } from '../../../config/one-emr.ts';
import { isConnectionWell } from '../../../ehr/check-connection.ts';
import { type Html, html } from '../../../html/html.ts';
import { NotPossible } from '../../audit/act.ts';
import { consolePage, postForm } from '../../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../../frame/page.ts';
import { notice } from '../../frame/parts.ts';
import { findingsTable } from '../connections.ts';
import { openEmr, rejectionText, removeEmr } from '../emr-actions.ts';
import { checkStored } from './check.ts';
import {
  type Connecting,
  emrAdministrationOf,
  emrVersionField,
  findConnecting,
  isResponse,
  missingSecrets,
  stepHead,
} from './connection-parts.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'connections/:emr/open', role: 'admin', page: openPage },
  { method: 'POST', path: 'connections/:emr/open', role: 'admin', page: openConnection },
  { method: 'POST', path: 'connections/:emr/remove', role: 'admin', page: removeConnection },
];

async function openPage(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  return isResponse(emr) ? emr : page(context, emr, false);
}

/** Checks a draft and opens it: without a problem, or although there is one if the form says so. */
async function openConnection(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  if (lacking(context, emr).length > 0) return page(context, emr, false);
  const { form } = context.request;
  if (!form.has('anyway')) {
    const check = await checkStored(context, emr);
    if (!isConnectionWell(check)) {
      return page(
        context,
        emr,
        html`${notice('bad', 'The EHR is not open: the check has found a problem.')}
${findingsTable(check)}${check.error !== undefined && html`<p class="advice bad">The connection cannot be opened: ${check.error}</p>`}
${openForm(context, emr, 'Open anyway', true)}`,
      );
    }
  }
  const result = await openEmr(emrAdministrationOf(context), { id: emr.id, version: form.get('version') ?? '' });
  await context.deps.refreshStored();
  if (result?.reason === 'open_work') return page(context, emr, notice('bad', `${rejectionText(result)} ${forceHint}`));
  return seeOther(context, `connections/${emr.id}/open?result=${result ? 'outdated' : 'opened'}`);
}

const forceHint = 'If it is, open it with `crossward emr open --force`.';

/** Removes an EHR of the database. One with open work stays, unless the form says otherwise. */
async function removeConnection(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  const { form } = context.request;
  if (!form.has('sure')) return page(context, emr, notice('bad', 'Nothing was changed. Tick that you are sure.'));
  const result = await removeEmr(
    emrAdministrationOf(context),
    { id: emr.id, version: form.get('version') ?? '' },
    form.has('force'),
  );
  await context.deps.refreshStored();
  if (!(result instanceof NotPossible)) return seeOther(context, 'connections?result=removed');
  return page(context, emr, notice('bad', rejectionText(result)));
}

/** What must be mended before the EHR can be opened, in sentences. */
function lacking({ deps }: SignedIn, emr: Connecting): readonly string[] {
  return [
    ...(emr.module ? [] : ['This gateway has no connector for it.']),
    ...(emr.secrets ? [] : ['Its secrets cannot be decrypted: enter all of them again.']),
    ...emr.mistakes.map(emrMistakeText),
    ...missingSecrets(emr).map((name) => `The secret ${name} is not stored.`),
    ...(emr.isOpen || !deps.emrs.some(({ id }) => id === emr.id) ? [] : ['Another EHR has this id.']),
  ];
}

function page(context: SignedIn, emr: Connecting, above: Html | false): ConsoleResponse {
  const missing = lacking(context, emr);
  return consolePage(context, {
    title: `Open ${emr.name}`,
    section: 'connections',
    content: html`${stepHead(context, emr, 'open')}
<h2>Open</h2>
${above}
${missing.length > 0 && html`<p class="advice bad">It still needs:</p><ul>${missing.map((text) => html`<li>${text}</li>`)}</ul>`}
${
  emr.isOpen
    ? html`<p>The EHR is open. <a href="${linkTo(context, `connections/${emr.id}`)}">Its connection</a> ·
<a href="${linkTo(context, `connections/${emr.id}/try`)}">Try a booking</a> ·
<a href="${linkTo(context, 'clients')}">Grant it to clients</a></p>
<p class="quiet">Clients of the configuration file cannot be granted it: create one in the console, or with <code>crossward clients</code>.</p>`
    : missing.length === 0 &&
      html`<p>Gateways connect to the EHR within 5 seconds. Clients use it when they are granted it.</p>
${openForm(context, emr, 'Check and open', false)}`
}
<h2>Remove</h2>
<p>Its settings and secrets are deleted. While writes, codes or holds are open there, it stays.${emr.isOpen && ' Pause it before.'}</p>
${postForm(
  context,
  `connections/${emr.id}/remove`,
  html`${emrVersionField(emr)}<label class="check"><input type="checkbox" name="sure"> I am sure</label>
${emr.isOpen && html`<label class="check"><input type="checkbox" name="force"> Also without a pause, and if something is open there: it is left to operators</label>`}
<div class="actions"><button class="danger">Remove<span class="aside"> ${emr.name}</span></button></div>`,
)}`,
  });
}

function openForm(context: SignedIn, emr: Connecting, label: string, isAnyway: boolean): Html {
  return postForm(
    context,
    `connections/${emr.id}/open`,
    html`${emrVersionField(emr)}${isAnyway && html`<input type="hidden" name="anyway" value="yes">`}
<div class="actions"><button${isAnyway && html` class="danger"`}>${label}</button></div>`,
  );
}
