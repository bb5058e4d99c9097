import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Headers of every response. HTML pages replace the content security policy. */
export const fixedHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** Maximum length of path and query, in characters. RFC 9110 section 4.1 asks for at least 8000. */
export const longestUrl = 8000;

/** Adds the fixed headers and the request id to every response, including errors. */
export function addHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply);
    done();
  });
}

export function setHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ ...fixedHeaders, 'x-request-id': request.id });
}

/**
 * Closes connections after their current response once the gateway stops. Kept alive, they would block the exit, and a proxy
 * would send its next request on one that closes.
 */
export function addConnectionCloseOnStop(app: FastifyInstance, isStopping: () => boolean = () => false): void {
  let stopping = false;
  app.addHook('preClose', async () => {
    stopping = true;
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (stopping || isStopping()) reply.header('connection', 'close');
    done();
  });
}
