import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { DemoClient } from '../config/demo.ts';
import { Problem } from '../problems/problem.ts';
import { isOwnHost } from './demo/own-host.ts';
import { once } from './once.ts';
import { referencePath } from './openapi-routes.ts';
import { type Allowances, addHtmlPages } from './pages/html-pages.ts';

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
 * Lines of their own for what would otherwise run into its neighbour: the kind of credentials, the statuses of responses. Paths
 * wrap in the list of operations, because their ends tell them apart.
 */
const style = `
section.contents > .rounded-t-xl { flex-wrap: wrap; }
section.contents > .rounded-t-xl > button { flex: 1 0 auto; }
.scalar-card-header-tabs { flex-wrap: wrap; }
section.contents > .rounded-t-xl > .flex:not(button) { padding: 0 0.5rem 0.5rem 0.5rem; }
.scalar-card-header-tabs > .scalar-card-header-title { flex: 1 0 100%; }
.scalar-card-header-tabs > :not(.scalar-card-header-title) { margin-left: auto; }
.scalar-card-header-tabs .tab-list { flex-wrap: wrap; }
a.endpoint.endpoint { white-space: normal; }
a.endpoint .endpoint-path.endpoint-path { overflow-wrap: anywhere; }
`;

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
  return { page: page.payload, script: script.rawPayload };
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
