import { randomUUID } from 'node:crypto';
import { type ListedClient, listClients } from '../../clients/list-clients.ts';
import { longestEhrUrl } from '../../ehr/guard/address-rules.ts';
import { eventTypes } from '../../events/event-types.ts';
import { type Html, html } from '../../html/html.ts';
import { isUuid } from '../../identifiers/uuid.ts';
import { changeEndpoint, createEndpoint } from '../../webhooks/endpoint-actions.ts';
import { claimId } from '../../webhooks/endpoint-store.ts';
import { summarizeEndpoint } from '../../webhooks/operator.ts';
import { act, NotPossible } from '../audit/act.ts';
import { wasDone } from '../audit/activity.ts';
import { checkBoxes, selectField, textField } from '../frame/fields.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import {
  type ConsoleRequest,
  type ConsoleResponse,
  linkTo,
  type Route,
  type SignedIn,
  seeOther,
} from '../frame/page.ts';
import { mistakeSummary, notice } from '../frame/parts.ts';
import { noSuchEndpoint } from './webhook.ts';
import { webhookSecretPage } from './webhook-secret.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'new-webhook', role: 'admin', page: newWebhook },
  { method: 'POST', path: 'new-webhook', role: 'admin', page: createWebhook },
  { method: 'GET', path: 'webhooks/:id/change', role: 'admin', page: askWebhookChange },
  { method: 'POST', path: 'webhooks/:id/change', role: 'admin', page: changeWebhook },
];

interface FormShown extends EndpointFields {
  readonly id: string;
  readonly client: string;
  readonly problem?: { readonly field: 'Client' | 'URL' | 'other'; readonly text: string };
}

/** The form of a new endpoint. */
async function newWebhook(context: SignedIn): Promise<ConsoleResponse> {
  return formPage(context, { id: randomUUID(), client: '', url: '', types: [] });
}

async function formPage(context: SignedIn, { id, client, problem, ...fields }: FormShown): Promise<ConsoleResponse> {
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

function failure({ field, text }: NonNullable<FormShown['problem']>): Html {
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
      // The endpoint may be deleted already when a request arrives late.
      if (!(await claimId(tx, id)) || (await wasDone(tx, 'webhook_create', id))) {
        throw new NotPossible('sent_before', sentBefore);
      }
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

/** What the form of an endpoint contains. */
export interface EndpointFields {
  readonly url: string;
  /** None: all. */
  readonly types: readonly string[];
}

function readWebhookFields({ form }: ConsoleRequest): EndpointFields {
  return {
    url: (form.get('url') ?? '').trim(),
    types: form.getAll('types').filter((type) => eventTypes.some((it) => it === type)),
  };
}

/** `null`: all. */
function eventTypesOf({ types }: EndpointFields): readonly string[] | null {
  return types.length === 0 ? null : types;
}

interface Options {
  /** What is wrong with the URL. */
  readonly problem?: string | undefined;
  /** An empty URL then stands for the present one. */
  readonly isChange?: boolean;
}

function endpointFields({ url, types }: EndpointFields, { problem, isChange = false }: Options = {}): Html {
  const rule = 'It begins with https:// and has a public address.';
  return html`${textField({
    name: 'url',
    label: isChange ? 'New URL' : 'URL',
    type: 'url',
    value: url,
    isOptional: isChange,
    maxLength: longestEhrUrl,
    hint: isChange ? `Leave it empty to keep the present one. ${rule}` : rule,
    problem,
  })}
${checkBoxes(
  { name: 'types', label: 'Events', hint: 'Choose none for all events, also those that later versions add.' },
  eventTypes.map((value) => ({ value, text: value })),
  types,
)}`;
}

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
