import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { inContext } from '../../api/context-of.ts';
import { type Console, createConsole } from '../../console/frame/console.ts';
import type { ConsoleParts, ConsoleRequest, ConsoleResponse } from '../../console/frame/page.ts';
import { Problem } from '../../problems/problem.ts';
import { callerAddress, callerOf } from '../limits/caller-address.ts';
import { limitAddresses } from '../limits/page-limits.ts';
import { type Allowances, addHtmlPages } from '../pages/html-pages.ts';
import { frameworkProblem, logFailure, sendProblem } from '../protocol/error-handler.ts';
import { consoleUrl, isPublicHost } from '../protocol/hosts.ts';

const allowances: Allowances = {
  'style-src': ["'self'"],
  'img-src': ['data:'],
  'form-action': ["'self'"],
  'script-src': ["'none'"],
};
const formLimit = 16 * 1024;
const longFormLimit = 256 * 1024;
const oneYear = 'public, max-age=31536000, immutable';

interface PageRoute {
  Params: Readonly<Record<string, string>>;
  Body: URLSearchParams | undefined;
}
type PageRequest = FastifyRequest<PageRoute>;

/** `/console`: the pages for operators. */
export async function addConsole(
  app: FastifyInstance,
  deps: ConsoleParts,
  { requestsPerMinute, publicUrl }: { readonly requestsPerMinute: number; readonly publicUrl: string | undefined },
): Promise<void> {
  const load = loadOnce(deps);
  // Only a gateway with a console needs their code.
  const { routes } = await import('../../console/frame/pages.ts');
  const isDemo = deps.settings.demoOperator !== undefined;

  await addHtmlPages(app, allowances, (pages) => {
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: formLimit },
      (_request, body, done) => done(null, readFields(String(body))),
    );
    pages.addHook('onRequest', async (request, reply) => {
      reply.header('x-robots-tag', 'noindex, nofollow');
      if (!isForConsole(request)) throw new Problem('route_not_found', { detail: otherHost });
    });
    pages.addHook('onSend', async (_request, reply) => {
      // Browsers then say which origin a form comes from. Other sites still get no referrer.
      reply.header('referrer-policy', 'same-origin');
    });
    pages.setErrorHandler((error: FastifyError, request, reply) => sendFailure(error, request as PageRequest, reply));

    pages.get<{ Params: { name: string } }>('/console/assets/:name', async (request, reply) => {
      const { style } = await load();
      if (request.params.name !== style.name) throw new Problem('route_not_found');
      return reply.header('cache-control', oneYear).type(style.type).send(style.content);
    });

    const onRequest = limitAddresses(app, requestsPerMinute);
    for (const route of routes.filter(({ isOfDemo }) => isDemo || !isOfDemo)) {
      const { method, path, isLongForm } = route;
      pages.route<PageRoute>({
        method,
        url: path === '' ? '/console' : `/console/${path}`,
        onRequest,
        bodyLimit: isLongForm ? longFormLimit : formLimit,
        handler: inContext(async (request, reply) => {
          if (method === 'POST') await request.assertCallerWaits();
          return send(reply, await (await load()).handle(route, toConsole(request, deps)));
        }),
      });
    }
    pages.get('/console/', async (_request, reply) => reply.redirect('../console', 303));
    pages.get('/console/*', { onRequest }, async () => {
      throw new Problem('route_not_found');
    });
  });

  function isForConsole({ host, headers }: FastifyRequest): boolean {
    // A proxy may pass on an `X-Forwarded-Host` that a patient's browser has sent.
    const isForPatients = isPublicHost({ publicUrl, consoleUrl: deps.settings.url }, headers.host);
    return consoleUrl(deps.settings, host) !== undefined && !isForPatients;
  }

  async function sendFailure(error: FastifyError, request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const problem = frameworkProblem(error);
    if (!isForConsole(request)) return sendProblem(problem, request, reply);
    request.problem = problem;
    logFailure(problem, request);
    const console = await load().catch(() => undefined);
    if (!console) return sendProblem(problem, request, reply);
    const [path = ''] = request.url.split('?');
    const depth = Math.max(0, path.split('/').length - 2);
    const shown = { status: problem.status, ...wordsOf(problem, request.method) };
    reply.headers(problem.headers);
    return send(reply, await console.message(toConsole(request, deps), depth, shown));
  }
}

const otherHost = 'The console is available under the host name of `console.url` only.';

function loadOnce(deps: ConsoleParts): () => Promise<Console> {
  let loading: Promise<Console> | undefined;
  return () => {
    loading ??= createConsole(deps).catch((error) => {
      // Such as a database that does not respond. The next request tries again.
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** Leaves out NUL, because PostgreSQL rejects text with it. After decoding: a removal in `%0%000` would make one. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '');
}

function readFields(text: string): URLSearchParams {
  const fields = [...new URLSearchParams(text)];
  return new URLSearchParams(fields.map(([name, value]): [string, string] => [withoutNul(name), withoutNul(value)]));
}

function toConsole(request: PageRequest, deps: ConsoleParts): ConsoleRequest {
  const { headers } = request;
  const fetchSite = headers['sec-fetch-site'];
  return {
    params: Object.fromEntries(Object.entries(request.params ?? {}).map(([name, value]) => [name, withoutNul(value)])),
    query: readFields(new URL(request.url, 'http://localhost').search),
    form: request.body ?? new URLSearchParams(),
    cookieHeader: headers.cookie ?? '',
    url: new URL(consoleUrl(deps.settings, request.host) ?? 'http://localhost'),
    address: callerAddress(request),
    network: callerOf(callerAddress(request)),
    origin: headers.origin,
    fetchSite: typeof fetchSite === 'string' ? fetchSite : undefined,
  };
}

function send(reply: FastifyReply, { status, headers, html, location, cookies }: ConsoleResponse): FastifyReply {
  if (headers) reply.headers(headers);
  if (cookies) reply.header('set-cookie', [...cookies]);
  if (location !== undefined) return reply.redirect(location, 303);
  return reply.code(status).type('text/html; charset=utf-8').send(html);
}

function wordsOf({ reason }: Problem, method: string): { readonly title: string; readonly text: string } {
  switch (reason) {
    case 'route_not_found':
      return { title: 'No such page', text: 'The console has no page here.' };
    case 'rate_limited':
      return { title: 'Too many requests', text: 'Wait a minute, then try again.' };
    case 'database_unavailable':
      return {
        title: 'Database unavailable',
        text: `The gateway cannot reach its database. Try again in a few seconds.${
          method === 'POST' ? ' If you have changed something, see whether it was made before you repeat it.' : ''
        }`,
      };
    case 'outcome_unknown':
      return {
        title: 'Outcome unknown',
        text: 'The database did not say whether it has stored the change. See whether it was made before you repeat it. A secret that was made is not shown again: make another one.',
      };
    case 'overloaded':
      return {
        title: 'Overloaded',
        text: 'Too many people sign in at the same time, or the gateway stood still. Nothing was changed. Try again in a few seconds.',
      };
    case 'content_too_large':
    case 'media_type_unsupported':
      return { title: 'The form was not accepted', text: 'It is too large, or not a form of the console.' };
    default:
      return { title: 'Something went wrong', text: 'The log of the gateway has the cause.' };
  }
}
