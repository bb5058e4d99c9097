import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../../html/html.ts';
import type { DeliveredMessage, DemoMailbox } from '../../messages/providers/demo-mailbox.ts';
import { Problem } from '../../problems/problem.ts';
import { pageFrame } from '../pages/frame.ts';
import { addHtmlPages } from '../pages/html-pages.ts';
import type { PageLink } from '../pages/links.ts';
import { pageAllowances } from '../pages/style.ts';
import { asksForJson } from '../protocol/accept.ts';
import { isOwnHost } from '../protocol/hosts.ts';

/** `/demo/messages`: without credentials, so only under the name of this machine. */
export async function addDemoMailboxRoutes(
  app: FastifyInstance,
  mailbox: Pick<DemoMailbox, 'messages'>,
): Promise<void> {
  await addHtmlPages(app, { ...pageAllowances, 'script-src': ["'none'"] }, (pages) =>
    pages.get('/demo/messages', async (request, reply) => {
      if (!isOwnHost(request.headers.host)) {
        throw new Problem('route_not_found', { detail: 'No route matches this path.' });
      }
      const messages = await mailbox.messages();
      reply.header('vary', 'accept');
      if (!asksForJson(request.headers.accept)) {
        const links = app.pageLinks?.(request) ?? [];
        return reply.type('text/html; charset=utf-8').send(demoMailboxPage(messages, links));
      }
      return reply.send({
        messages: messages.map(({ channel, to, text, appointmentId, sentAt }) => ({
          channel,
          to,
          text,
          appointment_id: appointmentId,
          sent_at: sentAt.toISOString(),
        })),
      });
    }),
  );
}

/** The page that shows the messages patients would have received. */
function demoMailboxPage(messages: readonly DeliveredMessage[], links: readonly PageLink[]): string {
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
