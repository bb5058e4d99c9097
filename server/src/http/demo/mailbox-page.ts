import { type Html, html } from '../../html/html.ts';
import type { DeliveredMessage } from '../../messages/providers/demo-mailbox.ts';
import { pageFrame } from '../pages/frame.ts';

/** The page that shows the messages patients would have received. */
export function demoMailboxPage(messages: readonly DeliveredMessage[]): string {
  return pageFrame(
    'Demo mailbox',
    html`<h1>Demo mailbox</h1>
<p>SMS and e-mail of the last day, newest first. Nothing here has left this machine.</p>
${messages.length === 0 ? html`<p>No messages yet.</p>` : messages.map(article)}
<p><a href="/">Start page</a></p>`,
  );
}

function article({ channel, to, subject, text, appointmentId, sentAt }: DeliveredMessage): Html {
  const time = sentAt.toISOString();
  return html`<article>
<h2>${channel === 'sms' ? 'SMS' : 'E-mail'} to ${to}</h2>
<small><time datetime="${time}">${time}</time> · appointment ${appointmentId}</small>
${subject !== undefined && html`<p><strong>${subject}</strong></p>`}
<p class="message">${text.trimEnd()}</p>
</article>
`;
}
