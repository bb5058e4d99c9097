import type { Channel } from '../../db/tables/messages.ts';
import { type HtmlContent, html } from '../../html/html.ts';
import { includesRole } from '../accounts/roles.ts';
import { postForm } from '../frame/frame.ts';
import type { SignedIn } from '../frame/page.ts';

const names: Readonly<Record<Channel, string>> = { sms: 'SMS', email: 'E-mail' };

/** The name of a channel at the beginning of a sentence. */
export function channelName(channel: Channel): string {
  return names[channel];
}

/** Reads the channel of a form. `undefined`: it names none. */
export function readChannel(form: URLSearchParams): Channel | undefined {
  const given = form.get('channel');
  return given === 'sms' || given === 'email' ? given : undefined;
}

/** The button that sends all failed or all queued messages of a channel, for those who may. */
export function sendAllForm(
  context: SignedIn,
  { channel, isFailed }: { readonly channel: Channel; readonly isFailed: boolean },
): HtmlContent {
  if (!includesRole(context.session.role, 'operate')) return false;
  const messages = channel === 'sms' ? 'SMS' : 'e-mails';
  const [path, when] = isFailed ? ['messages/send-again', 'again'] : ['messages/send-now', 'now'];
  return postForm(
    context,
    path,
    html`<input type="hidden" name="channel" value="${channel}"><button class="small">Send all ${messages} ${when}</button>`,
  );
}
