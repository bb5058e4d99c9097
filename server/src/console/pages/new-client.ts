import type { Mistake } from '../../config/mistake.ts';
import { html } from '../../html/html.ts';
import { createClient, notChangedTexts } from '../client-actions.ts';
import { consolePage, postForm } from '../frame.ts';
import { type ConsoleResponse, linkTo, type SignedIn } from '../page.ts';
import { mistakeSummary } from '../parts.ts';
import type { Route } from '../route.ts';
import {
  type ClientFields,
  clientFields,
  emptyFields,
  factsOf,
  fieldMistakes,
  readClientFields,
} from './client-form.ts';
import { administrationOf, applyChange, clientSecretPage } from './client-secret.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'new-client', role: 'admin', page: newClientPage },
  { method: 'POST', path: 'new-client', role: 'admin', isLongForm: true, page: sendNewClient },
];

/** The form to create a client. */
async function newClientPage(context: SignedIn): Promise<ConsoleResponse> {
  return form(context, emptyFields, []);
}

/** Creates a client, and shows its secret in the response. */
async function sendNewClient(context: SignedIn): Promise<ConsoleResponse> {
  const fields = readClientFields(context.request.form);
  const { name, ...facts } = factsOf(fields);
  const { id } = fields;
  const result = await createClient(administrationOf(context), { ...facts, id, ...(name !== '' && { name }) });
  if ('mistakes' in result) return form(context, fields, result.mistakes);
  if ('rejection' in result) {
    return form(context, fields, [
      { path: ['id'], at: 'value', text: `cannot be used. ${notChangedTexts[result.rejection]}` },
    ]);
  }
  await applyChange(context);
  // The form has no field for keys.
  const { secret = '' } = result;
  return clientSecretPage(context, { id, secret, text: 'The client is created.' });
}

function form(context: SignedIn, fields: ClientFields, mistakes: readonly Mistake[]): ConsoleResponse {
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
