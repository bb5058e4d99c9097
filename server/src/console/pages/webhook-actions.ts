import { findListedClient } from '../../clients/list-clients.ts';
import type { Tx } from '../../db/kysely.ts';
import { html } from '../../html/html.ts';
import { isUuid } from '../../identifiers/uuid.ts';
import { redeliverEvent, sendTestEvent } from '../../webhooks/delivery-actions.ts';
import { deleteEndpoint, setStatus } from '../../webhooks/endpoint-actions.ts';
import { readAddresses } from '../../webhooks/endpoint-store.ts';
import { redeliverStuck } from '../../webhooks/failing-endpoints.ts';
import { summarizeEndpoint } from '../../webhooks/operator.ts';
import { act, NotPossible } from '../act.ts';
import type { OperatorAction } from '../activity.ts';
import { consolePage, postForm } from '../frame.ts';
import { type ConsoleResponse, linkTo, type SignedIn, seeOther } from '../page.ts';
import type { Route } from '../route.ts';
import { noSuchEndpoint } from './webhook.ts';
import { addressText } from './webhooks.ts';

export const routes: readonly Route[] = [
  { method: 'POST', path: 'webhooks/:id/test', role: 'operate', page: testWebhook },
  { method: 'POST', path: 'webhooks/:id/deliveries/:delivery', role: 'operate', page: redeliverWebhook },
  { method: 'POST', path: 'webhooks/:id/deliver-now', role: 'operate', page: deliverNow },
  { method: 'POST', path: 'webhooks/:id/enable', role: 'admin', page: enableWebhook },
  { method: 'POST', path: 'webhooks/:id/disable', role: 'admin', page: disableWebhook },
  { method: 'GET', path: 'webhooks/:id/delete', role: 'admin', page: confirmDeleteWebhook },
  { method: 'POST', path: 'webhooks/:id/delete', role: 'admin', page: deleteWebhook },
];

/** Runs an action on the endpoint of the URL, and shows its page with the result, a key of `results` there. */
export async function actOnEndpoint(
  context: SignedIn,
  action: OperatorAction,
  work: (tx: Tx, id: string) => Promise<string>,
): Promise<ConsoleResponse> {
  const id = context.request.params.id?.toLowerCase() ?? '';
  // An id of another form may be personal data, and is not recorded.
  if (!isUuid(id)) return noSuchEndpoint(context);
  const result = await act(context.deps.services.db, context.session, { action, target: id }, (tx) => work(tx, id));
  if (!(result instanceof NotPossible)) return seeOther(context, `webhooks/${id}?result=${result}`);
  if (result.reason === 'webhook_endpoint_not_found') return noSuchEndpoint(context);
  return seeOther(context, `webhooks/${id}?result=${result.reason}`);
}

function testWebhook(context: SignedIn): Promise<ConsoleResponse> {
  return actOnEndpoint(context, 'webhook_test', async (tx, id) => {
    const endpoint = await summarizeEndpoint(tx, id);
    const client = await findListedClient(tx, context.deps.configured, endpoint?.clientId ?? '');
    await sendTestEvent(tx, id, client?.grants[0]?.emr ?? '');
    return 'tested';
  });
}

function redeliverWebhook(context: SignedIn): Promise<ConsoleResponse> {
  return actOnEndpoint(context, 'webhook_redeliver', async (tx, id) => {
    await redeliverEvent(tx, id, context.request.params.delivery ?? '');
    return 'redelivered';
  });
}

function deliverNow(context: SignedIn): Promise<ConsoleResponse> {
  return actOnEndpoint(context, 'webhook_redeliver', async (tx, id) => {
    if (!(await redeliverStuck(tx, id))) throw new NotPossible('nothing_waits');
    return 'delivering';
  });
}

function enableWebhook(context: SignedIn): Promise<ConsoleResponse> {
  return actOnEndpoint(context, 'webhook_enable', async (tx, id) => {
    await setStatus(tx, id, 'enabled');
    return 'enabled';
  });
}

function disableWebhook(context: SignedIn): Promise<ConsoleResponse> {
  return actOnEndpoint(context, 'webhook_disable', async (tx, id) => {
    await setStatus(tx, id, 'disabled');
    return 'disabled';
  });
}

/** Asks once more before an endpoint is deleted. */
async function confirmDeleteWebhook(context: SignedIn): Promise<ConsoleResponse> {
  const { db, keys } = context.deps.services;
  const found = await summarizeEndpoint(db, context.request.params.id ?? '');
  if (!found) return noSuchEndpoint(context);
  const addresses = await readAddresses(db, keys);
  return consolePage(context, {
    title: 'Delete this endpoint?',
    section: 'webhooks',
    content: html`<h1>Delete this endpoint?</h1>
<p><code>${found.id}</code> of the client ${found.clientId}, host ${addressText(addresses.get(found.id))}</p>
<p class="advice bad">Its ${found.pending} pending deliveries end, and the list of its deliveries is deleted. To stop deliveries
for a time, disable it instead.</p>
${postForm(
  context,
  `webhooks/${found.id}/delete`,
  html`<div class="actions"><button class="danger">Delete the endpoint</button>
<a class="button secondary" href="${linkTo(context, `webhooks/${found.id}`)}">Cancel</a></div>`,
)}`,
  });
}

async function deleteWebhook(context: SignedIn): Promise<ConsoleResponse> {
  const id = context.request.params.id?.toLowerCase() ?? '';
  if (!isUuid(id)) return noSuchEndpoint(context);
  const result = await act(context.deps.services.db, context.session, { action: 'webhook_delete', target: id }, (tx) =>
    deleteEndpoint(tx, id),
  );
  return result instanceof NotPossible ? noSuchEndpoint(context) : seeOther(context, 'webhooks?result=deleted');
}
