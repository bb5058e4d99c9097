import { html } from '../../html/html.ts';
import { groupStuckMessages } from '../../messages/stuck-messages.ts';
import { channelName, sendAllForm } from '../channel-parts.ts';
import { linkTo, type SignedIn } from '../page.ts';
import { counted } from '../parts.ts';
import type { Need } from './need.ts';

/** Messages that have failed or are late. */
export async function messagesInNeed(context: SignedIn): Promise<Need[]> {
  const groups = await groupStuckMessages(context.deps.services.db);
  return groups.map(({ channel, isFailed, failureReason, count, since, patients }) => {
    const cause = failureReason === null ? '' : `: ${context.deps.messageFailure(channel, failureReason)}`;
    const name = channelName(channel);
    return {
      subject: name,
      what: isFailed
        ? `${counted(count, 'message')} can be sent again after a failure${cause}`
        : `${counted(count, 'message has', 'messages have')} not left yet${cause}`,
      since,
      patients,
      mend: [
        sendAllForm(context, { channel, isFailed }),
        html`<a href="${linkTo(context, 'messages')}">Messages<span class="aside"> by ${name}</span></a>`,
      ],
    };
  });
}
