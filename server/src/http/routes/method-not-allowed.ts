import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { Problem } from '../../problems/problem.ts';

/** The methods that each path offers. */
export interface TrackedMethods {
  /** Call it after the last route. */
  finish(): void;
  /** What to answer if no route has the method and path. */
  withoutRoute(request: FastifyRequest): Problem;
}

/**
 * Responds with 405 and `Allow` (RFC 9110 section 15.5.6) to methods that an existing path does not support. Collects
 * the routes added from now on.
 */
export function trackMethods(app: FastifyInstance): TrackedMethods {
  const offered = new Map<string, Set<string>>();
  let tracking = true;
  app.addHook('onRoute', ({ url, method }: RouteOptions) => {
    if (!tracking) return;
    const methods = offered.get(url) ?? new Set();
    for (const it of [method].flat()) methods.add(it);
    offered.set(url, methods);
  });
  return {
    // Not for all 34 methods of Node.js: to add routes is most of what it takes to build the server.
    finish() {
      tracking = false;
      for (const [url, methods] of offered) {
        app.route({
          url,
          method: app.supportedMethods.filter((method) => !methods.has(method)).sort(),
          config: { hidden: true },
          onRequest: async () => {
            throw methodNotAllowed(methods);
          },
          handler: () => undefined,
        });
      }
    },
    withoutRoute({ url }) {
      const path = url.split('?', 1)[0] ?? '';
      const methods = [...offered].find(([pattern]) => isOn(path, pattern))?.[1];
      return methods
        ? methodNotAllowed(methods)
        : new Problem('route_not_found', { detail: 'No route matches this path.' });
    },
  };
}

function methodNotAllowed(methods: ReadonlySet<string>): Problem {
  const allow = [...methods].sort().join(', ');
  return new Problem('method_not_allowed', { detail: `This path supports ${allow}.`, headers: { allow } });
}

/** A pattern of the router: `:name` is any segment. */
function isOn(path: string, pattern: string): boolean {
  const [segments, parts] = [path.split('/'), pattern.split('/')];
  return (
    segments.length === parts.length &&
    parts.every((part, index) => (/^:[^:]/.test(part) ? segments[index] !== '' : part === segments[index]))
  );
}
