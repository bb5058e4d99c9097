import type { FastifyInstance } from 'fastify';
import { bodyUnreadable } from './error-handler.ts';

/** JSON in UTF-8 (RFC 8259 section 8.1), and nothing else. */
export function addJsonBody(app: FastifyInstance): void {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, JSON.parse(utf8.decode(body as Buffer)));
    } catch {
      done(bodyUnreadable('The body is not JSON in UTF-8.'));
    }
  });
}
