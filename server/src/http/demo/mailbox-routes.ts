import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { DemoMailbox } from '../../messages/providers/demo-mailbox.ts';
import { Problem } from '../../problems/problem.ts';
import { style } from '../pages/frame.ts';
import { demoMailboxPage } from './mailbox-page.ts';
import { isOwnHost } from './own-host.ts';

const contentSecurityPolicy = `default-src 'none'; frame-ancestors 'none'; style-src 'sha256-${createHash('sha256')
  .update(style)
  .digest('base64')}'`;

/** `/demo/messages`: without credentials, so only under the name of this machine. */
export function addDemoMailboxRoutes(app: FastifyInstance, mailbox: Pick<DemoMailbox, 'messages'>): void {
  app.get('/demo/messages', async (request, reply) => {
    if (!isOwnHost(request.headers.host)) {
      throw new Problem('route_not_found', { detail: 'No route matches this path.' });
    }
    const messages = await mailbox.messages();
    reply.header('vary', 'accept');
    if (!prefersJson(request.headers.accept)) {
      return reply
        .header('content-security-policy', contentSecurityPolicy)
        .type('text/html; charset=utf-8')
        .send(demoMailboxPage(messages));
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
  });
}

/** Whether the caller names JSON and does not prefer HTML: RFC 9110 section 12.5.1. */
function prefersJson(accept = ''): boolean {
  const weights = new Map(
    accept.split(',').map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return [type, weight === undefined ? 1 : Number(weight.slice(2)) || 0];
    }),
  );
  const json = weights.get('application/json') ?? 0;
  const html = weights.get('text/html') ?? 0;
  return json > 0 && json >= html;
}
