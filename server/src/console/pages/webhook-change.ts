import { html } from '../../html/html.ts';
import { changeEndpoint } from '../../webhooks/endpoint-actions.ts';
import { summarizeEndpoint } from '../../webhooks/operator.ts';
import { act, NotPossible } from '../act.ts';
import { consolePage, postForm } from '../frame.ts';
import { type ConsoleResponse, linkTo, type SignedIn, seeOther } from '../page.ts';
import { mistakeSummary } from '../parts.ts';
import type { Route } from '../route.ts';
import { noSuchEndpoint } from './webhook.ts';
import { type EndpointFields, endpointFields, eventTypesOf, readWebhookFields } from './webhook-form.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'webhooks/:id/change', role: 'admin', page: askWebhookChange },
  { method: 'POST', path: 'webhooks/:id/change', role: 'admin', page: changeWebhook },
];

/** The form that changes an endpoint. It does not show the URL, which can contain a token. */
async function askWebhookChange(
  context: SignedIn,
  shown?: EndpointFields & { readonly problem: string },
): Promise<ConsoleResponse> {
  const found = await summarizeEndpoint(context.deps.services.db, context.request.params.id ?? '');
  if (!found) return noSuchEndpoint(context);
  const fields = shown ?? { url: '', types: found.eventTypes ?? [] };
  return consolePage(context, {
    title: shown ? 'Error: Change this endpoint' : 'Change this endpoint',
    section: 'webhooks',
    status: shown ? 400 : 200,
    content: html`${shown && mistakeSummary('Nothing was changed.', [['url', `URL: ${shown.problem}`]])}<h1>Change this endpoint</h1>
<p><code>${found.id}</code> of the client ${found.clientId}</p>
${postForm(
  context,
  `webhooks/${found.id}/change`,
  html`<div class="fields">${endpointFields(fields, { problem: shown?.problem, isChange: true })}</div>
<div class="actions"><button>Change the endpoint</button>
<a class="button secondary" href="${linkTo(context, `webhooks/${found.id}`)}">Cancel</a></div>`,
)}`,
  });
}

async function changeWebhook(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, request } = context;
  const fields = readWebhookFields(request);
  const found = await summarizeEndpoint(deps.services.db, request.params.id ?? '');
  if (!found) return noSuchEndpoint(context);
  const { id } = found;
  const change = { url: fields.url === '' ? undefined : fields.url, eventTypes: eventTypesOf(fields) };
  const result = await act(context.deps.services.db, context.session, { action: 'webhook_change', target: id }, (tx) =>
    changeEndpoint(tx, deps.services.keys, deps.webhooks, id, change),
  );
  if (!(result instanceof NotPossible)) return seeOther(context, `webhooks/${id}?result=changed`);
  if (result.reason === 'webhook_endpoint_not_found') return noSuchEndpoint(context);
  return askWebhookChange(context, { ...fields, problem: result.detail });
}
