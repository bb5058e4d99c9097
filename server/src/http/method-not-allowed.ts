import { METHODS } from 'node:http';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { Problem } from '../problems/problem.ts';

/**
 * Answers 405 with `Allow` (RFC 9110 section 15.5.6) for every method that a known route does not offer. Collects from
 * here on; call `finish` after the last route.
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
              detail: `This address offers ${allow}.`,
              headers: { allow },
            });
          },
          handler: () => undefined,
        });
      }
    },
  };
}
