import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Fixed headers of every answer. Pages add their own content security policy. */
export const everyAnswer = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** Characters of a path with its query. RFC 9110 section 4.1 asks for 8000 at least. */
export const longestUrl = 8000;

/** Headers that every answer carries, whatever becomes of the request. */
export function addHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => setHeaders(request, reply));
}

export function setHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ ...everyAnswer, 'x-request-id': request.id });
}

/** A connection that is in use when the gateway stops ends with its answer. Kept alive, it would keep the process too. */
export function addConnectionCloseOnStop(app: FastifyInstance): void {
  let stopping = false;
  app.addHook('preClose', async () => {
    stopping = true;
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (stopping) reply.header('connection', 'close');
    done();
  });
}
