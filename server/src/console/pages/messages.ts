import { type Html, html } from '../../html/html.ts';
import { sendAgain } from '../../messages/failed.ts';
import { listOpen, type OpenMessage } from '../../messages/open-messages.ts';
import { act, NotPossible } from '../act.ts';
import { page, postForm } from '../frame.ts';
import { type ConsoleResponse, type SignedIn, seeOther } from '../page.ts';
import { badge, duration, notice, type Tone, table, time } from '../parts.ts';
import { includesRole } from '../roles.ts';
import type { Route } from '../route.ts';
import { readTarget } from './operation.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'messages', role: 'view', page: messagesPage },
  { method: 'POST', path: 'messages/:id/send', role: 'operate', page: sendMessageAgain },
];

const mostShown = 200;

const tones: Readonly<Record<OpenMessage['state'], Tone>> = { waiting: 'neutral', retrying: 'notice', failed: 'bad' };

/** Messages to patients that have not been sent. */
async function messagesPage(context: SignedIn): Promise<ConsoleResponse> {
  const { db } = context.deps.services;
  const open = await listOpen(db, mostShown + 1);
  const result = context.request.query.get('result');
  return page(context, {
    title: 'Messages',
    section: 'messages',
    content: html`${result === 'queued' && notice('good', 'The message was queued. A running gateway sends it within seconds.')}${
      result === 'not_failed' &&
      notice('bad', 'No failed message with this id has a pending code. The caller can request a new code.')
    }<h1>Messages</h1>
<p>Messages with a code that are queued, or that failed and whose code can still be used.</p>
${open.length === 0 ? html`<p class="empty">No queued or failed messages.</p>` : messageTable(context, open.slice(0, mostShown))}
${open.length > mostShown && html`<p class="quiet">Only the first ${mostShown} are shown: failed ones first, then the oldest.</p>`}`,
  });
}

function messageTable(context: SignedIn, messages: readonly OpenMessage[]): Html {
  return table(
    'Failed messages first, then by age',
    ['State', 'Message', 'EHR and care unit', 'Channel', 'Attempts', 'Age', 'Code expires', 'Next'],
    messages.map((message) => [
      badge(tones[message.state], message.state),
      html`<code>${message.id}</code>`,
      html`${message.emr}<br><span class="quiet">${message.careUnitId}</span>`,
      message.channel === 'sms' ? 'SMS' : 'e-mail',
      html`${message.attempts ?? 'unknown'}${
        message.failureReason !== null &&
        html`<br><span class="quiet">${context.deps.messageFailure(message.channel, message.failureReason)}</span>`
      }`,
      duration(message.ageSeconds),
      time(message.expiresAt),
      message.state === 'failed' ? sendButton(context, message.id) : time(message.nextAttemptAt),
    ]),
  );
}

function sendButton(context: SignedIn, id: string) {
  if (!includesRole(context.session.role, 'operate')) return 'role operate can send it again';
  return postForm(
    context,
    `messages/${id}/send`,
    html`<button class="small" aria-label="Send again: message ${id}">Send again</button>`,
  );
}

/** Queues a failed message again. */
async function sendMessageAgain(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const id = request.params.id ?? '';
  const about = { action: 'message_send_again', target: readTarget(id) } as const;
  const result = await act(deps.services.db, session, about, async (tx) => {
    if (!(await sendAgain(tx, id))) throw new NotPossible('not_failed');
  });
  return seeOther(context, `messages?result=${result instanceof NotPossible ? result.reason : 'queued'}`);
}
