import { randomUUID } from 'node:crypto';
import { type ListedClient, listClients } from '../../clients/list-clients.ts';
import { type Html, html } from '../../html/html.ts';
import { isUuid } from '../../identifiers/uuid.ts';
import { createEndpoint } from '../../webhooks/endpoint-actions.ts';
import { claimId } from '../../webhooks/endpoint-store.ts';
import { act, NotPossible } from '../act.ts';
import { selectField } from '../fields.ts';
import { consolePage, postForm } from '../frame.ts';
import { type ConsoleResponse, linkTo, type SignedIn, seeOther } from '../page.ts';
import { mistakeSummary, notice } from '../parts.ts';
import type { Route } from '../route.ts';
import { type EndpointFields, endpointFields, eventTypesOf, readWebhookFields } from './webhook-form.ts';
import { webhookSecretPage } from './webhook-secret.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'new-webhook', role: 'admin', page: newWebhook },
  { method: 'POST', path: 'new-webhook', role: 'admin', page: createWebhook },
];

interface Shown extends EndpointFields {
  readonly id: string;
  readonly client: string;
  readonly problem?: { readonly field: 'Client' | 'URL' | 'other'; readonly text: string };
}

/** The form of a new endpoint. */
async function newWebhook(context: SignedIn): Promise<ConsoleResponse> {
  return formPage(context, { id: randomUUID(), client: '', url: '', types: [] });
}

async function formPage(context: SignedIn, { id, client, problem, ...fields }: Shown): Promise<ConsoleResponse> {
  const clients = await possibleClients(context);
  const at = (field: string) => (problem?.field === field ? problem.text : undefined);
  return consolePage(context, {
    title: problem ? 'Error: New webhook endpoint' : 'New webhook endpoint',
    section: 'webhooks',
    status: problem ? 400 : 200,
    content: html`${problem && failure(problem)}<h1>New webhook endpoint</h1>
<p>The client sees the endpoint, and can change it, as one of its own. Its secret is shown once, on the next page.</p>
${postForm(
  context,
  'new-webhook',
  html`<input type="hidden" name="id" value="${id}">
<div class="fields">${selectField(
    {
      name: 'client',
      label: 'Client',
      value: client,
      hint: 'The list has the clients with the scope webhooks:manage.',
      problem: at('Client'),
    },
    clients.map(({ id, name }) => ({ value: id, text: name === id ? id : `${id} (${name})` })),
  )}
${endpointFields(fields, { problem: at('URL') })}</div>
<div class="actions"><button>Create the endpoint</button>
<a class="button secondary" href="${linkTo(context, 'webhooks')}">Cancel</a></div>`,
)}`,
  });
}

function failure({ field, text }: NonNullable<Shown['problem']>): Html {
  if (field === 'other') return notice('bad', `No endpoint was created. ${text}`);
  return mistakeSummary('No endpoint was created.', [[field.toLowerCase(), `${field}: ${text}`]]);
}

/** Clients that would get events. */
async function possibleClients({ deps }: SignedIn): Promise<ListedClient[]> {
  const all = await listClients(deps.services.db, deps.configured);
  return all.filter(({ state, scopes }) => state === 'active' && scopes.includes('webhooks:manage'));
}

/** Creates an endpoint and shows its secret. A form that is sent twice creates one endpoint. */
async function createWebhook(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, request } = context;
  const id = (request.form.get('id') ?? '').toLowerCase();
  if (!isUuid(id)) return seeOther(context, 'new-webhook');
  const fields = readWebhookFields(request);
  const clientId = (request.form.get('client') ?? '').trim();
  const again = (field: 'Client' | 'URL' | 'other', text: string) =>
    formPage(context, { id, client: clientId, ...fields, problem: { field, text } });
  const clients = await possibleClients(context);
  if (!clients.some((client) => client.id === clientId)) return again('Client', 'Choose one of the list.');
  const { keys } = deps.services;
  const result = await act(
    context.deps.services.db,
    context.session,
    { action: 'webhook_create', target: id },
    async (tx) => {
      if (!(await claimId(tx, id))) throw new NotPossible('sent_before', sentBefore);
      return createEndpoint(tx, keys, deps.webhooks, {
        id,
        clientId,
        url: fields.url,
        eventTypes: eventTypesOf(fields),
      });
    },
  );
  if (result instanceof NotPossible) {
    if (result.reason === 'sent_before') return seeOther(context, `webhooks/${id}?result=sent_before`);
    return result.reason === 'webhook_url_rejected' ? again('URL', result.detail) : again('other', result.detail);
  }
  return webhookSecretPage(context, { id, secret: result.secret, isNew: true });
}

const sentBefore = 'The form was sent before.';
