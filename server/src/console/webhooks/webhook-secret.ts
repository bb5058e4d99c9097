import { html } from '../../html/html.ts';
import { overlap, rotateEndpointSecret } from '../../webhooks/endpoint-actions.ts';
import { lockSecretVersion, readSecretVersion } from '../../webhooks/endpoint-store.ts';
import { summarizeEndpoint } from '../../webhooks/operator.ts';
import { act, NotPossible } from '../audit/act.ts';
import { textField } from '../frame/fields.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../frame/page.ts';
import { mistakeSummary, notice } from '../frame/parts.ts';
import { noSuchEndpoint } from './webhook.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'webhooks/:id/secret', role: 'admin', page: askWebhookRotation },
  { method: 'POST', path: 'webhooks/:id/secret', role: 'admin', page: rotateWebhook },
];

const anHour = 3600;
const longest = overlap.longest / anHour;

/** Asks before the secret is rotated. */
async function askWebhookRotation(
  context: SignedIn,
  shown: { readonly hours?: string; readonly problem?: string } = {},
): Promise<ConsoleResponse> {
  const { db } = context.deps.services;
  const found = await summarizeEndpoint(db, context.request.params.id ?? '');
  if (!found) return noSuchEndpoint(context);
  const { hours = String(overlap.usual / anHour), problem } = shown;
  return consolePage(context, {
    title: problem === undefined ? 'Rotate the secret' : 'Error: Rotate the secret',
    section: 'webhooks',
    status: problem === undefined ? 200 : 400,
    content: html`${problem !== undefined && mistakeSummary('Nothing was changed.', [['hours', `Hours: ${problem}`]])}<h1>Rotate the secret</h1>
<p><code>${found.id}</code> of the client ${found.clientId}</p>
<p>The next page shows the new secret, once. Until the previous one ends, deliveries are signed with both, so the receiver can
change to the new one at any time. Those before it sign until their own ends. With 0 hours, all end at once.</p>
${postForm(
  context,
  `webhooks/${found.id}/secret`,
  html`<input type="hidden" name="version" value="${await readSecretVersion(db, found.id)}">
<div class="fields">${textField({
    name: 'hours',
    label: 'Hours until the previous secret ends',
    type: 'number',
    min: 0,
    max: longest,
    value: hours,
    hint: `From 0 to ${longest}.`,
    problem,
  })}</div>
<div class="actions"><button>Rotate the secret</button>
<a class="button secondary" href="${linkTo(context, `webhooks/${found.id}`)}">Cancel</a></div>`,
)}`,
  });
}

/** Rotates the secret, and shows the new one. A form that is sent twice rotates it once. */
async function rotateWebhook(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, request } = context;
  const { db, keys } = deps.services;
  const hours = (request.form.get('hours') ?? '').trim();
  if (!/^\d{1,4}$/.test(hours) || Number(hours) > longest) {
    return askWebhookRotation(context, { hours, problem: `Enter a whole number from 0 to ${longest}.` });
  }
  const found = await summarizeEndpoint(db, request.params.id ?? '');
  if (!found) return noSuchEndpoint(context);
  const { id } = found;
  const result = await act(
    context.deps.services.db,
    context.session,
    { action: 'webhook_secret_rotate', target: id },
    async (tx) => {
      if ((await lockSecretVersion(tx, id)) !== request.form.get('version')) throw new NotPossible('rotated', rotated);
      return rotateEndpointSecret(tx, keys, id, Number(hours) * anHour);
    },
  );
  if (!(result instanceof NotPossible)) return webhookSecretPage(context, { id, secret: result });
  if (result.reason === 'webhook_endpoint_not_found') return noSuchEndpoint(context);
  return seeOther(context, `webhooks/${id}?result=${result.reason}`);
}

const rotated = 'The secret has been rotated since the form was opened.';

interface NewSecret {
  readonly id: string;
  readonly secret: string;
  readonly isNew?: boolean;
}

/** Shows a new secret. It is in no other response, and in no URL. */
export function webhookSecretPage(context: SignedIn, { id, secret, isNew = false }: NewSecret): ConsoleResponse {
  const done = isNew ? 'The endpoint is created.' : 'The secret is rotated.';
  return consolePage(context, {
    title: 'Secret of the endpoint',
    section: 'webhooks',
    content: html`${notice('good', `${done} Copy the secret now: it is not shown again.`)}<h1>Secret of the endpoint</h1>
<p><code>${id}</code></p>
<pre tabindex="0" role="region" aria-label="Secret">${secret}</pre>
<p>The receiver verifies the signature of each delivery with it. Send it there over a safe channel.</p>
<div class="actions"><a class="button" href="${linkTo(context, `webhooks/${id}`)}">Go to the endpoint</a></div>`,
  });
}
