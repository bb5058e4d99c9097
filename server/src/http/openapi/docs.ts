import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { DemoClient } from '../../config/file/demo.ts';
import { Problem } from '../../problems/problem.ts';
import { once } from '../once.ts';
import { type Allowances, addHtmlPages } from '../pages/html-pages.ts';
import { isOwnHost } from '../protocol/hosts.ts';
import { referencePath } from './openapi-routes.ts';
import { style, withAdditions } from './reference-additions.ts';

const prefix = '/docs';
const scriptPath = `${prefix}/js/scalar.js`;

const allowances: Allowances = {
  'script-src': ["'self'"],
  // Scalar inserts its style sheet while rendering.
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
};

/**
 * Serves the API reference at `/docs`. The page loads nothing from other hosts.
 *
 * @param demoClient set in the demo: its credentials are filled in under the name of this machine
 */
export async function addDocs(app: FastifyInstance, demoClient?: DemoClient): Promise<void> {
  const empty = once(() => loadReference());
  const filledIn = once(() => loadReference(demoClient));
  const referenceFor = ({ headers: { host } }: FastifyRequest) =>
    demoClient && isOwnHost(host) ? filledIn() : empty();
  await addHtmlPages(app, allowances, (pages) => {
    pages.addHook('onRequest', requireValidHost);
    pages.get(prefix, async (_request, reply) => reply.redirect(`${prefix}/`, 301));
    pages.get(`${prefix}/`, async (request, reply) =>
      reply.type('text/html; charset=utf-8').send((await referenceFor(request)).page),
    );
    pages.get(scriptPath, async (request, reply) =>
      reply
        .type('application/javascript; charset=utf-8')
        // The script is several megabytes and the same for every client.
        .header('cache-control', 'public, max-age=3600')
        .send((await referenceFor(request)).script),
    );
  });
}

interface Reference {
  readonly page: string;
  readonly script: Buffer;
}

/** Loads Scalar with the first request, because few gateways serve these pages and its module takes some 20 MB of memory. */
async function loadReference(client?: DemoClient): Promise<Reference> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = Fastify();
  await app.register(scalar, {
    routePrefix: prefix,
    configuration: {
      url: referencePath,
      // The introduction links to the document for programs.
      documentDownloadType: 'none',
      pageTitle: 'Crossward',
      favicon: 'data:,',
      defaultOpenAllTags: true,
      withDefaultFonts: false,
      customCss: style,
      telemetry: false,
      persistAuth: false,
      showDeveloperTools: 'never',
      // These features call services on other hosts.
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
      ...(client ? { authentication: credentialsOf(client) } : {}),
    },
  });
  const [page, script] = await Promise.all([app.inject(`${prefix}/`), app.inject(scriptPath)]);
  await app.close();
  return { page: withAdditions(page.payload), script: script.rawPayload };
}

/** The names of the security schemes are those of the OpenAPI document. */
function credentialsOf({ client_id, client_secret }: DemoClient) {
  const header = (name: string, value: string) => ({ type: 'apiKey', in: 'header', name, value }) as const;
  return {
    preferredSecurityScheme: [['clientId', 'clientSecret']],
    securitySchemes: {
      clientId: header('x-service-client-id', client_id),
      clientSecret: header('x-service-client-secret', client_secret),
    },
  };
}

/** RFC 9112, section 3.2. */
function requireValidHost(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  const isValid = URL.canParse(request.url, `${request.protocol}://${request.hostname}`);
  done(isValid ? undefined : new Problem('request_invalid', { detail: 'The host header is not a valid host name.' }));
}
