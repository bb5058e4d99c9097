import type { ListedClient } from '../../clients/list-clients.ts';
import type { Mistake } from '../../config/mistake.ts';
import { type Html, html } from '../../html/html.ts';
import { updateAsOperator } from '../client-actions.ts';
import { consolePage, postForm } from '../frame.ts';
import { type ConsoleResponse, linkTo, type SignedIn, seeOther } from '../page.ts';
import { mistakeSummary } from '../parts.ts';
import type { Route } from '../route.ts';
import { findChangeable } from './client.ts';
import { type ClientFields, clientFields, factsOf, fieldMistakes, fieldsOf, readClientFields } from './client-form.ts';
import { administrationOf, applyChange, readVersion, versionField } from './client-secret.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'clients/:id/edit', role: 'admin', page: editClientPage },
  { method: 'POST', path: 'clients/:id/edit', role: 'admin', isLongForm: true, page: sendChangedClient },
];

/** The form to change a client. */
async function editClientPage(context: SignedIn): Promise<ConsoleResponse> {
  const found = await findChangeable(context);
  return 'response' in found ? found.response : form(context, found.client, { fields: fieldsOf(found.client) });
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
  return form(context, { ...found.client, version }, { fields, mistakes: result.mistakes });
}

interface Shown {
  readonly fields: ClientFields;
  readonly mistakes?: readonly Mistake[];
}

function form(context: SignedIn, client: ListedClient, { fields, mistakes = [] }: Shown): ConsoleResponse {
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
