import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Problem } from '../problems/problem.ts';
import { type Allowances, addHtmlPages } from './html-pages.ts';

const prefix = '/docs';
const scriptPath = `${prefix}/js/scalar.js`;

const allowances: Allowances = {
  'script-src': ["'self'"],
  // Scalar inserts its style sheet while rendering.
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
};

/** Serves the API reference at `/docs`. The page loads nothing from other hosts. */
export async function addDocs(app: FastifyInstance): Promise<void> {
  let loading: Promise<Reference> | undefined;
  const reference = () => {
    loading ??= loadReference();
    return loading;
  };
  await addHtmlPages(app, allowances, (pages) => {
    pages.addHook('onRequest', requireValidHost);
    pages.get(prefix, async (_request, reply) => reply.redirect(`${prefix}/`, 301));
    pages.get(`${prefix}/`, async (_request, reply) =>
      reply.type('text/html; charset=utf-8').send((await reference()).page),
    );
    pages.get(scriptPath, async (_request, reply) =>
      reply
        .type('application/javascript; charset=utf-8')
        // The script is several megabytes and the same for every client.
        .header('cache-control', 'public, max-age=3600')
        .send((await reference()).script),
    );
  });
}

interface Reference {
  readonly page: string;
  readonly script: Buffer;
}

/** Loads Scalar with the first request, because few gateways serve these pages and its module takes some 20 MB of memory. */
async function loadReference(): Promise<Reference> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = Fastify();
  await app.register(scalar, {
    routePrefix: prefix,
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
  });
  const [page, script] = await Promise.all([app.inject(`${prefix}/`), app.inject(scriptPath)]);
  await app.close();
  return { page: page.payload, script: script.rawPayload };
}

/** RFC 9112, section 3.2. */
function requireValidHost(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  const isValid = URL.canParse(request.url, `${request.protocol}://${request.hostname}`);
  done(isValid ? undefined : new Problem('request_invalid', { detail: 'The host header is not a valid host name.' }));
}
