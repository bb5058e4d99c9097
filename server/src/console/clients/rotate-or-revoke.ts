import type { ListedClient } from '../../clients/list-clients.ts';
import { mostPrevious } from '../../clients/previous-secrets.ts';
import { type Html, html } from '../../html/html.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../frame/page.ts';
import { duration, mistakeSummary, time } from '../frame/parts.ts';
import { findChangeable, findRevocable } from './client.ts';
import { defaultOverlapHours, longestOverlapHours, revokeAsOperator, rotateClient } from './client-actions.ts';
import { administrationOf, applyChange, clientSecretPage, readVersion, versionField } from './client-secret.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'clients/:id/revoke', role: 'admin', page: revocationPage },
  { method: 'POST', path: 'clients/:id/revoke', role: 'admin', page: sendRevocation },
  { method: 'GET', path: 'clients/:id/rotate', role: 'admin', page: rotationPage },
  { method: 'POST', path: 'clients/:id/rotate', role: 'admin', page: sendRotation },
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

const overlaps = [
  [0, 'At once. The client fails until it uses the new secret.'],
  [1, 'After 1 hour'],
  [defaultOverlapHours, 'After 24 hours'],
  [7 * 24, 'After 7 days'],
  [longestOverlapHours, 'After 30 days'],
] as const;

/** Asks when the current secret ends. */
async function rotationPage(context: SignedIn): Promise<ConsoleResponse> {
  const found = await findChangeable(context);
  return 'response' in found ? found.response : rotationForm(context, found.client, false);
}

function rotationForm(context: SignedIn, client: ListedClient, isWrong: boolean): ConsoleResponse {
  const { id, name, version } = client;
  return consolePage(context, {
    title: isWrong ? 'Error: Rotate the secret' : 'Rotate the secret',
    section: 'clients',
    status: isWrong ? 400 : 200,
    content: html`${isWrong && mistakeSummary('Nothing was changed.', [['overlap', 'Choose when the current secret ends.']])}
<h1>Rotate the secret</h1>
<p>${name}, <code>${id}</code></p>
<p>The client gets a new secret. Both work until the current one ends.</p>
${earlierSecrets(client)}
${postForm(
  context,
  `clients/${id}/rotate`,
  html`${versionField(version)}
<fieldset id="overlap"><legend>The current secret ends</legend><div class="checks one">${overlaps.map(
    ([hours, text]) =>
      html`<label class="check"><input type="radio" name="overlap_hours" value="${hours}"${
        hours === defaultOverlapHours && html` checked`
      }> <span>${text}</span></label>\n`,
  )}</div></fieldset>
<div class="actions"><button>Rotate the secret</button>
<a class="button secondary" href="${linkTo(context, `clients/${id}`)}">Cancel</a></div>`,
)}`,
  });
}

function earlierSecrets({ secrets }: ListedClient): Html | false {
  const ends = validEnds(secrets);
  if (ends.length >= mostPrevious)
    return html`<p class="advice bad">${ends.length} previous secrets are still valid. If you rotate now, the current one ends at once.</p>`;
  return (
    ends.length > 0 &&
    html`<p>Previous secrets stay valid, until ${time(ends[0] ?? null)} at the latest, unless you choose <em>At once</em>, which ends all.</p>`
  );
}

/** When the previous secrets end that are still valid, the last first. */
function validEnds(secrets: ListedClient['secrets']): Date[] {
  const ends = secrets.flatMap(({ expiresAt }) => (expiresAt && expiresAt > new Date() ? expiresAt : []));
  return ends.sort((a, b) => b.getTime() - a.getTime());
}

/** Rotates the secret, and shows the new one in the response. */
async function sendRotation(context: SignedIn): Promise<ConsoleResponse> {
  const found = await findChangeable(context);
  if ('response' in found) return found.response;
  const { id, secrets } = found.client;
  const overlap = overlaps.find(([hours]) => String(hours) === context.request.form.get('overlap_hours'));
  if (!overlap) return rotationForm(context, found.client, true);
  const [hours] = overlap;
  const result = await rotateClient(administrationOf(context), { id, version: readVersion(context) }, hours);
  if ('rejection' in result) return seeOther(context, `clients/${id}?result=${result.rejection}`);
  await applyChange(context);
  return clientSecretPage(context, {
    id,
    secret: result.secret,
    text: 'The secret is rotated.',
    more: html`<p>The previous secret ${hours === 0 || validEnds(secrets).length >= mostPrevious ? 'no longer works' : `works for another ${duration(hours * 3600)}`}.</p>`,
  });
}
