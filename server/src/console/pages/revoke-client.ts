import { html } from '../../html/html.ts';
import { revokeAsOperator } from '../client-actions.ts';
import { consolePage, postForm } from '../frame.ts';
import { type ConsoleResponse, linkTo, type SignedIn, seeOther } from '../page.ts';
import { mistakeSummary } from '../parts.ts';
import type { Route } from '../route.ts';
import { findRevocable } from './client.ts';
import { administrationOf, applyChange, readVersion, versionField } from './client-secret.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'clients/:id/revoke', role: 'admin', page: revocationPage },
  { method: 'POST', path: 'clients/:id/revoke', role: 'admin', page: sendRevocation },
];

const consequences = {
  usual: `Its secrets stop working, its webhook endpoints get no more events, and links to the page for patients that it has
started end. Appointments stay as they are. This cannot be undone, and the id is not used again.`,
  ofOverridden: `This is the stored client. Its secrets do not work again when the configuration file no longer has the id. The
client of the configuration file stays in effect, with the webhook endpoints and links of this id. This cannot be undone.`,
};

/** Asks once more before a client is revoked. */
async function revocationPage(context: SignedIn): Promise<ConsoleResponse> {
  const found = await findRevocable(context);
  if ('response' in found) return found.response;
  const { id, name, version, state } = found.client;
  const isUnconfirmed = context.request.query.get('result') === 'unconfirmed';
  return consolePage(context, {
    title: `${isUnconfirmed ? 'Error: ' : ''}Revoke ${name}?`,
    section: 'clients',
    content: html`${isUnconfirmed && mistakeSummary('Nothing was changed.', [['checked', 'Confirm that the client no longer needs access.']])}<h1>Revoke ${name}?</h1>
<p><code>${id}</code></p>
<p class="advice bad">${state === 'overridden' ? consequences.ofOverridden : consequences.usual}</p>
${postForm(
  context,
  `clients/${id}/revoke`,
  html`${versionField(version)}
<label class="check"><input id="checked" type="checkbox" name="checked" value="yes" required> The client no longer needs access</label>
<div class="actions"><button class="danger">Revoke the client</button>
<a class="button secondary" href="${linkTo(context, `clients/${id}`)}">Cancel</a></div>`,
)}`,
  });
}

/** Revokes a client. */
async function sendRevocation(context: SignedIn): Promise<ConsoleResponse> {
  const found = await findRevocable(context);
  if ('response' in found) return found.response;
  const { id } = found.client;
  const { form } = context.request;
  if (form.get('checked') !== 'yes') return seeOther(context, `clients/${id}/revoke?result=unconfirmed`);
  const result = await revokeAsOperator(administrationOf(context), { id, version: readVersion(context) });
  if (typeof result === 'object') return seeOther(context, `clients/${id}?result=${result.rejection}`);
  await applyChange(context);
  return seeOther(context, `clients/${id}?result=${result === 'done' ? 'ended' : 'overridden_ended'}`);
}
