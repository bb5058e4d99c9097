import type { FastifyInstance } from 'fastify';

/**
 * Lets web pages of these origins read how to reach the gateway: the documents that need no credentials, and no other response
 * (https://fetch.spec.whatwg.org/#http-cors-protocol).
 *
 * @param origins `*`: any
 */
export function addDiscoveryOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const isAny = origins.includes('*');
  app.addHook('onRequest', ({ routeOptions, headers: { origin = '' } }, reply, done) => {
    const { isDiscovery, endpoint } = routeOptions.config;
    if (isDiscovery || endpoint?.representation?.isPublic) {
      if (!isAny) reply.header('vary', 'origin');
      if (isAny || origins.includes(origin)) reply.header('access-control-allow-origin', isAny ? '*' : origin);
    }
    done();
  });
}
