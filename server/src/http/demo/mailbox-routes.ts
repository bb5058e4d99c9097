import type { FastifyInstance } from 'fastify';
import type { DemoMailbox } from '../../messages/providers/demo-mailbox.ts';
import { Problem } from '../../problems/problem.ts';
import { asksForJson } from '../accept.ts';
import { addHtmlPages } from '../pages/html-pages.ts';
import { pageAllowances } from '../pages/style.ts';
import { demoMailboxPage } from './mailbox-page.ts';
import { isOwnHost } from './own-host.ts';

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
