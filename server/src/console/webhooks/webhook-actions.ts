import { findListedClient } from '../../clients/list-clients.ts';
import type { Tx } from '../../db/kysely.ts';
import { html } from '../../html/html.ts';
import { isUuid } from '../../identifiers/uuid.ts';
import { redeliverEvent, replayEvents, sendTestEvent } from '../../webhooks/delivery-actions.ts';
import { deleteEndpoint, setStatus } from '../../webhooks/endpoint-actions.ts';
import { readAddresses } from '../../webhooks/endpoint-store.ts';
import { redeliverStuck } from '../../webhooks/failing-endpoints.ts';
import { summarizeEndpoint } from '../../webhooks/operator.ts';
import { act, NotPossible } from '../audit/act.ts';
import type { OperatorAction } from '../audit/activity.ts';
import { textField } from '../frame/fields.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../frame/page.ts';
import { mistakeSummary } from '../frame/parts.ts';
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
  { method: 'GET', path: 'webhooks/:id/replay', role: 'operate', page: askReplay },
  { method: 'POST', path: 'webhooks/:id/replay', role: 'operate', page: replayWebhook },
];

/** Runs an action on the endpoint of the URL, and shows its page with the result, a key of `results` there. */
async function actOnEndpoint(
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

const aDay = 24 * 3600_000;

/** Asks from when events are to be delivered again. */
async function askReplay(
  context: SignedIn,
  shown: { readonly value?: string; readonly problem?: string } = {},
): Promise<ConsoleResponse> {
  const found = await summarizeEndpoint(context.deps.services.db, context.request.params.id ?? '');
  if (!found) return noSuchEndpoint(context);
  const { value = new Date(Date.now() - aDay).toISOString().slice(0, 16), problem } = shown;
  return consolePage(context, {
    title: problem === undefined ? 'Replay events' : 'Error: Replay events',
    section: 'webhooks',
    status: problem === undefined ? 200 : 400,
    content: html`${problem !== undefined && mistakeSummary('Nothing was replayed.', [['from', `From: ${problem}`]])}<h1>Replay events</h1>
<p><code>${found.id}</code> of the client ${found.clientId}</p>
<p>The endpoint gets every event since this time again that is still stored, in order, also those that it has received. Later
events wait until the replay has caught up.</p>
${postForm(
  context,
  `webhooks/${found.id}/replay`,
  html`<div class="fields">${textField({ name: 'from', label: 'From (UTC)', type: 'datetime-local', value, problem })}</div>
<div class="actions"><button>Replay</button>
<a class="button secondary" href="${linkTo(context, `webhooks/${found.id}`)}">Cancel</a></div>`,
)}`,
  });
}

async function replayWebhook(context: SignedIn): Promise<ConsoleResponse> {
  const value = context.request.form.get('from') ?? '';
  const from = readUtc(value);
  if (!from) return askReplay(context, { value, problem: 'Enter a date and a time, such as 2030-03-15T09:00.' });
  return actOnEndpoint(context, 'webhook_replay', async (tx, id) => {
    await replayEvents(tx, id, from);
    return 'replayed';
  });
}

/** The value of an `<input type="datetime-local">`, in UTC. */
function readUtc(text: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text)) return undefined;
  const time = new Date(`${text}Z`);
  // JavaScript turns 31 February into 3 March.
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 16)) ? time : undefined;
}
