import type { Tx } from '../../db/kysely.ts';
import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { sendAgain, sendAllAgain } from '../../messages/failed.ts';
import {
  groupOpen,
  listOpen,
  noFailureText,
  type OpenGroup,
  type OpenMessage,
  type OpenState,
} from '../../messages/open-messages.ts';
import { type Left, readLeft } from '../../messages/read-queue.ts';
import { sendNow } from '../../messages/send-now.ts';
import { includesRole } from '../accounts/roles.ts';
import { act, NotPossible } from '../audit/act.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../frame/page.ts';
import { badge, counted, duration, notice, type Tone, table, time } from '../frame/parts.ts';
import { readTarget } from '../writes/operation.ts';
import { channelName, readChannel } from './channel-parts.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'messages', role: 'view', page: messagesPage },
  { method: 'POST', path: 'messages/send-again', role: 'operate', page: sendAllFailed },
  { method: 'POST', path: 'messages/send-now', role: 'operate', page: sendAllQueued },
  { method: 'POST', path: 'messages/:id/send', role: 'operate', page: sendFailed },
  { method: 'POST', path: 'messages/:id/send-now', role: 'operate', page: sendQueued },
];

const mostShown = 200;
/** A group of more messages is folded. */
const mostUnfolded = 10;

const tones: Readonly<Record<OpenState, Tone>> = {
  waiting: 'neutral',
  retrying: 'notice',
  delayed: 'bad',
  failed: 'bad',
};

/** Messages to patients that have not been sent. */
async function messagesPage(context: SignedIn): Promise<ConsoleResponse> {
  const { db } = context.deps.services;
  const groups = await groupOpen(db);
  const messages = await listOpen(db, mostShown);
  const left = await readLeft(db);
  const failed = groups.filter(({ state }) => state === 'failed');
  const queued = groups.filter(({ state }) => state !== 'failed');
  const shown = (of: readonly OpenGroup[]) => of.map((group) => groupOf(context, group, messages));
  return consolePage(context, {
    title: 'Messages',
    section: 'messages',
    content: html`${resultOf(context.request.query)}<div class="title"><h1>Messages</h1>
<p class="quiet">${time(new Date())} · <a href="${linkTo(context, 'messages')}">Refresh</a></p></div>
<p>Codes for patients that have not left, or that the provider reports as lost.</p>
<h2>Failed in the last 24 hours</h2>
${failed.length === 0 ? html`<p class="empty">No failed messages.</p>` : html`${sendAgainButton(context, failed)}${shown(failed)}`}
<h2>Queued</h2>
${queued.length === 0 ? html`<p class="empty">No queued messages.</p>` : html`${sendNowButton(context, queued)}${shown(queued)}`}
${left.length > 0 && leftTable(left)}
${sum(groups, 'count') > mostShown && html`<p class="quiet">Only the first ${mostShown} messages are listed: failed ones first, then late ones.</p>`}`,
  });
}

function leftTable(left: readonly Left[]): Html {
  return html`<h2>Sent in the last 24 hours</h2>
<p class="quiet">Delivered: the provider reports that it has arrived. Not every provider reports.</p>
${table(
  'By channel',
  ['Channel', 'Sent', 'Delivered'],
  left.map(({ channel, count, delivered }) => [channelName(channel), count, delivered]),
)}`;
}

function resultOf(query: URLSearchParams): Html | false {
  const count = Number(/^\d{1,9}$/.exec(query.get('count') ?? '')?.[0] ?? 1);
  const [messages, are, them, attempts] =
    count === 1 ? ['1 message', 'is', 'it', 'attempt'] : [`${count} messages`, 'are', 'them', 'attempts'];
  switch (query.get('result')) {
    case 'message_send_again':
      return notice('good', `${messages} ${are} queued again. A running gateway sends ${them} within seconds.`);
    case 'message_send_now':
      return notice(
        'good',
        `The next ${attempts} of ${messages} ${are} due. A running gateway makes ${them} within seconds.`,
      );
    case 'nothing':
      return notice('bad', 'Nothing was sent: the message has left meanwhile, or its code is no longer awaited.');
    default:
      return false;
  }
}

/** Messages that are not sent for the same cause: one sentence, and a list. */
function groupOf(context: SignedIn, group: OpenGroup, messages: readonly OpenMessage[]): Html {
  const { channel, state, failureReason, count, since } = group;
  const own = messages.filter(
    (it) => it.channel === channel && it.state === state && it.failureReason === failureReason,
  );
  const cause = failureReason === null ? noFailureText(state) : context.deps.messageFailure(channel, failureReason);
  const text = `${channelName(channel)}: ${counted(count, 'message')}, ${cause}`;
  const age = duration(Math.max(0, (context.deps.now().getTime() - since.getTime()) / 1000));
  return html`<details class="group"${count <= mostUnfolded && html` open`}>
<summary>${badge(tones[state], state)} ${text}, since ${time(since)} (${age})</summary>
${messageTable(context, state, own)}
</details>
`;
}

function messageTable(context: SignedIn, state: OpenState, messages: readonly OpenMessage[]): Html {
  const isFailed = state === 'failed';
  return table(
    'The oldest first',
    ['Code for', isFailed ? 'Failed' : 'Queued', 'Attempts', 'Code expires', 'Next', 'Message'],
    messages.map((message) => [
      html`${message.kind === null ? 'unknown' : `a ${message.kind}`} <br><span class="quiet">${message.emr} ${message.careUnitId}</span>`,
      time(message.since),
      message.attempts ?? 'unknown',
      time(message.expiresAt),
      html`${!isFailed && nextAttempt(context, message)}${action(context, message)}`,
      html`<code>${message.id}</code>`,
    ]),
  );
}

function nextAttempt({ deps }: SignedIn, { nextAttemptAt }: OpenMessage): HtmlContent {
  return nextAttemptAt !== null && nextAttemptAt <= deps.now() ? 'due' : time(nextAttemptAt);
}

function action(context: SignedIn, { id, state, canBeSentAgain, expiresAt }: OpenMessage): HtmlContent {
  if (state === 'failed' && !canBeSentAgain) {
    return expiresAt <= context.deps.now() ? 'the code has expired' : 'the code is no longer awaited';
  }
  if (!includesRole(context.session.role, 'operate')) return state === 'failed' && 'role operate can send it again';
  const [text, path] = state === 'failed' ? ['Send again', 'send'] : ['Send now', 'send-now'];
  return postForm(
    context,
    `messages/${id}/${path}`,
    html`<button class="small secondary" aria-label="${text}: message ${id}">${text}</button>`,
  );
}

function sendAgainButton(context: SignedIn, failed: readonly OpenGroup[]): HtmlContent {
  const count = sum(failed, 'sendable');
  if (count === 0)
    return html`<p>None of them can be sent again: their codes have expired, or are no longer awaited.</p>\n`;
  if (!includesRole(context.session.role, 'operate')) return false;
  return postForm(
    context,
    'messages/send-again',
    html`<button>Send again what is still valid: ${counted(count, 'message')}</button>`,
  );
}

function sendNowButton(context: SignedIn, queued: readonly OpenGroup[]): HtmlContent {
  if (!includesRole(context.session.role, 'operate')) return false;
  const count = counted(sum(queued, 'count'), 'message');
  return postForm(context, 'messages/send-now', html`<button>Send ${count} now</button>`);
}

function sum<Name extends 'count' | 'sendable'>(groups: readonly OpenGroup[], name: Name): number {
  return groups.reduce((total, group) => total + group[name], 0);
}

/** Queues a failed message again. */
function sendFailed(context: SignedIn): Promise<ConsoleResponse> {
  return send(context, 'message_send_again', async (tx, id) => ((await sendAgain(tx, id)) ? 1 : 0));
}

/** Makes the next attempt of a queued message due. */
function sendQueued(context: SignedIn): Promise<ConsoleResponse> {
  return send(context, 'message_send_now', (tx, id) => sendNow(tx, { id }));
}

/** Queues all failed messages again, or those of a channel, whose code is still awaited. */
function sendAllFailed(context: SignedIn): Promise<ConsoleResponse> {
  return send(context, 'message_send_again', (tx) => sendAllAgain(tx, readChannel(context.request.form)));
}

/** Makes the next attempts of all queued messages due, or those of a channel. */
function sendAllQueued(context: SignedIn): Promise<ConsoleResponse> {
  return send(context, 'message_send_now', (tx) => sendNow(tx, { channel: readChannel(context.request.form) }));
}

/** @param work returns the number of messages that it has sent */
async function send(
  context: SignedIn,
  action: 'message_send_again' | 'message_send_now',
  work: (tx: Tx, id: string) => Promise<number>,
): Promise<ConsoleResponse> {
  const { deps, session, request } = context;
  const { id } = request.params;
  const target = id === undefined ? (readChannel(request.form) ?? 'all') : readTarget(id);
  const result = await act(deps.services.db, session, { action, target }, async (tx) => {
    const count = await work(tx, id ?? '');
    if (count === 0) throw new NotPossible('nothing');
    return count;
  });
  const about = result instanceof NotPossible ? result.reason : `${action}&count=${result}`;
  return seeOther(context, `messages?result=${about}`);
}
