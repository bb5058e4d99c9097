import type { ListedClient } from '../../clients/list-clients.ts';
import type { Mistake } from '../../config/mistakes/mistake.ts';
import { type Html, html } from '../../html/html.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../frame/page.ts';
import { mistakeSummary } from '../frame/parts.ts';
import { findChangeable } from './client.ts';
import { createClient, notChangedTexts, updateAsOperator } from './client-actions.ts';
import {
  type ClientFields,
  clientFields,
  emptyFields,
  factsOf,
  fieldMistakes,
  fieldsOf,
  readClientFields,
} from './client-form.ts';
import { administrationOf, applyChange, clientSecretPage, readVersion, versionField } from './client-secret.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'new-client', role: 'admin', page: newClientPage },
  { method: 'POST', path: 'new-client', role: 'admin', isLongForm: true, page: sendNewClient },
  { method: 'GET', path: 'clients/:id/edit', role: 'admin', page: editClientPage },
  { method: 'POST', path: 'clients/:id/edit', role: 'admin', isLongForm: true, page: sendChangedClient },
];

/** The form to create a client. */
async function newClientPage(context: SignedIn): Promise<ConsoleResponse> {
  return newForm(context, emptyFields, []);
}

/** Creates a client, and shows its secret in the response. */
async function sendNewClient(context: SignedIn): Promise<ConsoleResponse> {
  const fields = readClientFields(context.request.form);
  const { name, ...facts } = factsOf(fields);
  const { id } = fields;
  const result = await createClient(administrationOf(context), { ...facts, id, ...(name !== '' && { name }) });
  if ('mistakes' in result) return newForm(context, fields, result.mistakes);
  if ('rejection' in result) {
    return newForm(context, fields, [
      { path: ['id'], at: 'value', text: `cannot be used. ${notChangedTexts[result.rejection]}` },
    ]);
  }
  await applyChange(context);
  // The form has no field for keys.
  const { secret = '' } = result;
  return clientSecretPage(context, { id, secret, text: 'The client is created.' });
}

function newForm(context: SignedIn, fields: ClientFields, mistakes: readonly Mistake[]): ConsoleResponse {
  const isWrong = mistakes.length > 0;
  return consolePage(context, {
    title: isWrong ? 'Error: New client' : 'New client',
    section: 'clients',
    status: isWrong ? 400 : 200,
    content: html`${isWrong && mistakeSummary('The client was not created.', fieldMistakes(mistakes))}
<p><a href="${linkTo(context, 'clients')}">All clients</a></p>
<h1>New client</h1>
${postForm(
  context,
  'new-client',
  html`${clientFields(fields, { configured: context.deps.configured, mistakes, hasId: true })}
<div class="actions"><button>Create the client</button>
<a class="button secondary" href="${linkTo(context, 'clients')}">Cancel</a></div>`,
)}`,
  });
}

/** The form to change a client. */
async function editClientPage(context: SignedIn): Promise<ConsoleResponse> {
  const found = await findChangeable(context);
  return 'response' in found ? found.response : editForm(context, found.client, { fields: fieldsOf(found.client) });
}

/** Changes name, scopes, grants and return URLs of a client. */
async function sendChangedClient(context: SignedIn): Promise<ConsoleResponse> {
  const found = await findChangeable(context);
  if ('response' in found) return found.response;
  const { id } = found.client;
  const fields = readClientFields(context.request.form);
  const version = readVersion(context);
  const result = await updateAsOperator(administrationOf(context), { id, version }, factsOf(fields));
  if (result === 'done') {
    await applyChange(context);
    return seeOther(context, `clients/${id}?result=changed`);
  }
  if ('rejection' in result) return seeOther(context, `clients/${id}?result=${result.rejection}`);
  return editForm(context, { ...found.client, version }, { fields, mistakes: result.mistakes });
}

interface FormShown {
  readonly fields: ClientFields;
  readonly mistakes?: readonly Mistake[];
}

function editForm(context: SignedIn, client: ListedClient, { fields, mistakes = [] }: FormShown): ConsoleResponse {
  const { id, name, version } = client;
  const isWrong = mistakes.length > 0;
  return consolePage(context, {
    title: isWrong ? `Error: Change ${name}` : `Change ${name}`,
    section: 'clients',
    status: isWrong ? 400 : 200,
    content: html`${isWrong && mistakeSummary('Nothing was changed.', fieldMistakes(mistakes))}
<p><a href="${linkTo(context, `clients/${id}`)}">Back to the client</a></p>
<h1>Change ${name}</h1>
<p><code>${id}</code></p>
${endingGrants(client)}
${postForm(
  context,
  `clients/${id}/edit`,
  html`${versionField(version)}
${clientFields(fields, { configured: context.deps.configured, mistakes, hasId: false })}
<div class="actions"><button>Save</button>
<a class="button secondary" href="${linkTo(context, `clients/${id}`)}">Cancel</a></div>`,
)}`,
  });
}

/** Grants that the form cannot show, because the configuration no longer has their EHR or care unit. */
function endingGrants({ grants }: ListedClient): Html | false {
  const ending = grants.flatMap(({ emr, name, careUnits }) =>
    name === undefined
      ? emr
      : (careUnits ?? []).flatMap((unit) => (unit.name === undefined ? [`${emr}:${unit.id}`] : [])),
  );
  return (
    ending.length > 0 &&
    html`<p class="advice bad">The configuration no longer has ${ending.join(', ')}. Saving removes these grants.</p>`
  );
}
