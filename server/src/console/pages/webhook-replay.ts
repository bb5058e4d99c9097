import { html } from '../../html/html.ts';
import { replayEvents } from '../../webhooks/delivery-actions.ts';
import { summarizeEndpoint } from '../../webhooks/operator.ts';
import { textField } from '../fields.ts';
import { consolePage, postForm } from '../frame.ts';
import { type ConsoleResponse, linkTo, type SignedIn } from '../page.ts';
import { mistakeSummary } from '../parts.ts';
import type { Route } from '../route.ts';
import { noSuchEndpoint } from './webhook.ts';
import { actOnEndpoint } from './webhook-actions.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'webhooks/:id/replay', role: 'operate', page: askReplay },
  { method: 'POST', path: 'webhooks/:id/replay', role: 'operate', page: replayWebhook },
];

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
