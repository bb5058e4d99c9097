import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../problems/problem.ts';
import { type Allowances, addHtmlPages } from './html-pages.ts';

const allowances: Allowances = {
  'script-src': ["'self'"],
  // Scalar inserts its style sheet while rendering.
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
};

/** Serves the API reference at `/docs`. The page loads nothing from other hosts. */
export async function addDocs(app: FastifyInstance): Promise<void> {
  await addHtmlPages(app, allowances, (pages) =>
    pages.register(scalar, {
      routePrefix: '/docs',
      hooks: { onRequest: prepare },
      configuration: {
        url: '/api/openapi.json',
        pageTitle: 'Crossward',
        favicon: 'data:,',
        defaultOpenAllTags: true,
        withDefaultFonts: false,
        telemetry: false,
        persistAuth: false,
        showDeveloperTools: 'never',
        // These features call services on other hosts.
        hideClientButton: true,
        agent: { disabled: true },
        mcp: { disabled: true },
      },
    }),
  );
}

function prepare(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
  // The plugin builds URLs from the host header and throws if the result is not a URL.
  if (!URL.canParse(request.url, `${request.protocol}://${request.hostname}`)) {
    done(new Problem('request_invalid', { detail: 'The host header is not a valid host name.' }));
    return;
  }
  // The script is several megabytes and the same for every client.
  if (request.routeOptions.url === '/docs/js/scalar.js') reply.header('cache-control', 'public, max-age=3600');
  done();
}
