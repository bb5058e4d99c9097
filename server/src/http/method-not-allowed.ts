import { METHODS } from 'node:http';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { Problem } from '../problems/problem.ts';

/**
 * Responds with 405 and `Allow` (RFC 9110 section 15.5.6) to methods that an existing path does not support. Collects
 * the routes added from now on; call `finish` after the last one.
 */
export function trackMethods(app: FastifyInstance): { finish(): void } {
  const offered = new Map<string, Set<string>>();
  let tracking = true;
  app.addHook('onRoute', ({ url, method }: RouteOptions) => {
    if (!tracking) return;
    const methods = offered.get(url) ?? new Set();
    for (const it of [method].flat()) methods.add(it);
    offered.set(url, methods);
  });
  return {
    finish() {
      tracking = false;
      const others = METHODS.filter((method) => method !== 'CONNECT');
      for (const method of others) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
      for (const [url, methods] of offered) {
        const allow = [...methods].sort().join(', ');
        app.route({
          url,
          method: others.filter((method) => !methods.has(method)),
          config: { hidden: true },
          onRequest: async () => {
            throw new Problem('method_not_allowed', {
              detail: `This path supports ${allow}.`,
              headers: { allow },
            });
          },
          handler: () => undefined,
        });
      }
    },
  };
}
