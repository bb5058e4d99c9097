import { html } from '../../html/html.ts';
import { groupStuckMessages } from '../../messages/stuck-messages.ts';
import { channelName, sendAllForm } from '../channel-parts.ts';
import { linkTo, type SignedIn } from '../page.ts';
import { counted } from '../parts.ts';
import type { Need } from './need.ts';

const sentences = {
  failed: (count: number) => `${counted(count, 'message')} can be sent again after a failure`,
  delayed: (count: number) => `${counted(count, 'message has', 'messages have')} not left yet`,
  lost: (count: number) => `${counted(count, 'message')} failed and can no longer be sent, and none has left since`,
};

/** Messages that have failed or are late. */
export async function messagesInNeed(context: SignedIn): Promise<Need[]> {
  const groups = await groupStuckMessages(context.deps.services.db);
  return groups.map(({ channel, state, failureReason, count, since, patients }) => {
    const cause = failureReason === null ? '' : `: ${context.deps.messageFailure(channel, failureReason)}`;
    const name = channelName(channel);
    return {
      subject: name,
      what: `${sentences[state](count)}${cause}`,
      since,
      patients,
      mend: [
        state !== 'lost' && sendAllForm(context, { channel, isFailed: state === 'failed' }),
        html`<a href="${linkTo(context, 'messages')}">Messages<span class="aside"> by ${name}</span></a>`,
      ],
    };
  });
}
