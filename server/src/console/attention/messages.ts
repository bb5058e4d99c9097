import { type HtmlContent, html } from '../../html/html.ts';
import { groupStuckMessages } from '../../messages/stuck-messages.ts';
import { postForm } from '../frame.ts';
import { linkTo, type SignedIn } from '../page.ts';
import { counted } from '../parts.ts';
import { includesRole } from '../roles.ts';
import type { Need } from './need.ts';

/** Messages that have failed or are late. */
export async function messagesInNeed(context: SignedIn): Promise<Need[]> {
  const groups = await groupStuckMessages(context.deps.services.db);
  return groups.map(({ channel, isFailed, failureReason, count, since, patients }) => {
    const cause = failureReason === null ? '' : `: ${context.deps.messageFailure(channel, failureReason)}`;
    const name = channel === 'sms' ? 'SMS' : 'E-mail';
    return {
      subject: name,
      what: isFailed
        ? `${counted(count, 'message')} can be sent again after a failure${cause}`
        : `${counted(count, 'message has', 'messages have')} not left yet${cause}`,
      since,
      patients,
      mend: [
        sendForm(context, isFailed, name),
        html`<a href="${linkTo(context, 'messages')}">Messages<span class="aside"> by ${name}</span></a>`,
      ],
    };
  });
}

/** The button that sends all failed or all queued messages, as on the page of the messages. */
function sendForm(context: SignedIn, isFailed: boolean, name: string): HtmlContent {
  if (!includesRole(context.session.role, 'operate')) return false;
  const [path, label] = isFailed ? ['messages/send-again', 'Send all again'] : ['messages/send-now', 'Send all now'];
  return postForm(
    context,
    path,
    html`<button class="small">${label}<span class="aside">: messages, also those by ${name}</span></button>`,
  );
}
