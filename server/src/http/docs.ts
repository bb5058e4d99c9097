import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../problems/problem.ts';
import { type Allowances, addHtmlPages } from './html-pages.ts';

const allowances: Allowances = {
  'script-src': ["'self'"],
  // The reference writes its style sheet as it renders.
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
};

/** `/docs`: the OpenAPI description for people to read. Everything on the page comes from this gateway. */
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
        // These lead to services of other hosts.
        hideClientButton: true,
        agent: { disabled: true },
        mcp: { disabled: true },
      },
    }),
  );
}

function prepare(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
  // The plugin puts its addresses together from the header, and throws where that makes none.
  if (!URL.canParse(request.url, `${request.protocol}://${request.hostname}`)) {
    done(new Problem('request_invalid', { detail: 'The header host is not a host name.' }));
    return;
  }
  // Some megabytes, the same for everyone.
  if (request.routeOptions.url === '/docs/js/scalar.js') reply.header('cache-control', 'public, max-age=3600');
  done();
}
