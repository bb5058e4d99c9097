import { type Html, html } from '../../html/html.ts';
import type { DeliveredMessage } from '../../messages/providers/demo-mailbox.ts';
import { pageFrame } from '../pages/frame.ts';
import type { PageLink } from '../pages/links.ts';

/** The page that shows the messages patients would have received. */
export function demoMailboxPage(messages: readonly DeliveredMessage[], links: readonly PageLink[]): string {
  return pageFrame({
    title: 'Mailbox',
    section: '/demo/messages',
    links,
    content: html`<h1>Mailbox</h1>
<p>SMS and e-mail of the last day, newest first. Nothing here has left this machine.</p>
${messages.length === 0 ? html`<p class="empty">No messages yet.</p>` : messages.map(article)}`,
  });
}

function article({ channel, to, subject, text, appointmentId, sentAt }: DeliveredMessage): Html {
  return html`<article>
<h2>${channel === 'sms' ? 'SMS' : 'E-mail'} to ${to}</h2>
<p class="quiet"><time datetime="${sentAt.toISOString()}">${sentAt.toISOString().slice(0, 19).replace('T', ' ')} UTC</time> ·
appointment <code>${appointmentId}</code></p>
${subject !== undefined && html`<p><strong>${subject}</strong></p>`}
<p class="message">${text.trimEnd()}</p>
</article>
`;
}
