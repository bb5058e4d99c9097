import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { inContext } from '../../api/context-of.ts';
import type { ClientRegistry } from '../../clients/client-registry.ts';
import type { EhrRegistry } from '../../ehr/registry.ts';
import { findRevisions } from '../../events/revisions.ts';
import { actOnPage } from '../../patient-page/actions.ts';
import { calendarOf } from '../../patient-page/calendar-of.ts';
import { readForm, readResult, type SentForm } from '../../patient-page/form.ts';
import { type Language, preferredLanguage, readLanguage } from '../../patient-page/language.ts';
import { findLinkedPage, type LinkedPage, loadView } from '../../patient-page/load.ts';
import { createLooks } from '../../patient-page/looks.ts';
import { renderMessage, renderPage } from '../../patient-page/render.ts';
import { returnLink } from '../../patient-page/return-link.ts';
import type { Texts } from '../../patient-page/texts.ts';
import { Problem } from '../../problems/problem.ts';
import type { WriteServices } from '../../writes/write-kind.ts';
import { limitPages } from '../limits/page-limits.ts';
import { type Allowances, addHtmlPages } from '../pages/html-pages.ts';
import { frameworkProblem, logFailure } from '../protocol/error-handler.ts';

interface Dependencies {
  readonly services: WriteServices;
  readonly clients: ClientRegistry;
  readonly ehrs: EhrRegistry;
  readonly publicUrl: string;
  readonly requestsPerMinute: number;
}

const allowances: Allowances = {
  'style-src': ["'self'"],
  'img-src': ["'self'"],
  'form-action': ["'self'"],
  'script-src': ["'none'"],
};
const formLimit = 4096;
const oneYear = 'public, max-age=31536000, immutable';

interface PageRoute {
  Params: { token: string };
  Querystring: { readonly [name: string]: unknown };
  Body: SentForm | undefined;
}
type PageRequest = FastifyRequest<PageRoute>;

/**
 * `/c/{token}`: the page on which a patient enters a code. The token in the path is the only credential. There are no
 * cookies, so other sites cannot act for the patient.
 *
 * @throws {ConfigurationError} when a logo cannot be used
 */
export async function addPatientPages(app: FastifyInstance, dependencies: Dependencies): Promise<void> {
  const { services, clients, ehrs, publicUrl, requestsPerMinute } = dependencies;
  const looks = await createLooks();
  // A logo that cannot be used is reported at the start.
  for (const ehr of [...ehrs.values()]) for (const careUnit of ehr.careUnits.values()) await looks.of(careUnit);

  await addHtmlPages(app, allowances, (pages) => {
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: formLimit },
      (_request, body, done) => done(null, readForm(String(body))),
    );
    pages.addHook('onRequest', async (_request, reply) => {
      reply.header('x-robots-tag', 'noindex, nofollow');
    });
    pages.setErrorHandler((error: FastifyError, request, reply) => sendFailure(error, request as PageRequest, reply));

    pages.get<{ Params: { name: string } }>('/c/assets/:name', async (request, reply) => {
      const asset = looks.file(request.params.name);
      if (!asset) throw new Problem('route_not_found');
      return reply.header('cache-control', oneYear).type(asset.type).send(asset.content);
    });

    const onRequest = limitPages(app, requestsPerMinute);
    const show = async (request: PageRequest, reply: FastifyReply) => {
      const page = await findLinkedPage(services, clients, request.params.token);
      return page ? sendPage(page, request, reply) : sendUnknownLink(request, reply);
    };
    pages.get<PageRoute>('/c/:token', { onRequest }, inContext(show));

    const download = async (request: PageRequest, reply: FastifyReply) => {
      const page = await findLinkedPage(services, clients, request.params.token);
      return page ? sendCalendar(page, request, reply) : sendUnknownLink(request, reply);
    };
    pages.get<PageRoute>('/c/:token/calendar.ics', { onRequest }, inContext(download));

    const doAction = async (request: PageRequest, reply: FastifyReply) => {
      const page = await findLinkedPage(services, clients, request.params.token);
      if (!page) return sendUnknownLink(request, reply);
      const { action, code } = request.body ?? {};
      if (!action || isFromOtherSite(request, publicUrl)) return showAgain(request, reply);
      await request.assertCallerWaits();
      const { result, problem } = await actOnPage(page, action, code ?? '', request.id);
      if (problem) logProblem(problem, request);
      return showAgain(request, reply, result);
    };
    pages.post<PageRoute>('/c/:token', { onRequest, bodyLimit: formLimit }, inContext(doAction));
  });

  async function sendPage(page: LinkedPage, request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { careUnit } = page.context;
    const view = await loadView(page, 'view_patient_page', request.id);
    if (view.state === 'unavailable') reply.code(503).header('retry-after', '30');
    const language = languageOf(page, request);
    const text = renderPage({
      view,
      careUnit,
      language,
      assets: await looks.of(careUnit),
      result: readResult(request.query.result),
      isCancelling: request.query.step === 'cancel',
      returnLink: returnLink(services.keys, view),
      calendarPath: `${request.params.token}/calendar.ics?lang=${language}`,
      now: new Date(),
    });
    return sendHtml(reply, text);
  }

  /** The file, or the page, which says what has become of the appointment. */
  async function sendCalendar(page: LinkedPage, request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { careUnit } = page.context;
    const { confirmation } = page;
    // Read before the EHR, so that no file has the number of a change that it does not show.
    const ids = confirmation.items.map(({ id }) => id);
    const revisions = await findRevisions(services.db, confirmation, ids);
    const view = await loadView(page, 'get_calendar_file', request.id);
    const text = calendarOf({ view, revisions, careUnit, language: languageOf(page, request), now: new Date() });
    if (text === undefined) return reply.redirect(`../${request.params.token}`, 303);
    return reply
      .type('text/calendar; charset=utf-8')
      .header('content-disposition', 'attachment; filename="appointment.ics"')
      .send(text);
  }

  function sendMessage(request: PageRequest, reply: FastifyReply, choose: Parameters<typeof renderMessage>[2]) {
    const language = readLanguage(request.query?.lang) ?? preferredLanguage(request.headers['accept-language']);
    return sendHtml(reply, renderMessage(language, looks.plain, choose));
  }

  function sendUnknownLink(request: PageRequest, reply: FastifyReply): FastifyReply {
    return sendMessage(request, reply.code(404), (texts) => texts.unknownLink);
  }

  function sendFailure(error: FastifyError, request: PageRequest, reply: FastifyReply): FastifyReply {
    const problem = frameworkProblem(error);
    logProblem(problem, request);
    reply.code(problem.status).headers(problem.headers);
    const choose = ({ tooManyRequests, unknownLink, failed }: Texts) => {
      if (problem.reason === 'rate_limited') return tooManyRequests;
      return problem.reason === 'route_not_found' ? unknownLink : failed;
    };
    return sendMessage(request, reply, choose);
  }
}

/** The chosen language, or that of the care unit. */
function languageOf({ context }: LinkedPage, request: PageRequest): Language {
  return readLanguage(request.query.lang) ?? context.careUnit.language;
}

/** Redirects to the page, so that a reload sends no form again. The state is read anew. */
function showAgain(request: PageRequest, reply: FastifyReply, result?: string): FastifyReply {
  const { token } = request.params;
  const language = readLanguage(request.query.lang);
  const query = new URLSearchParams({ ...(result ? { result } : {}), ...(language ? { lang: language } : {}) });
  // Relative: a proxy can serve the page below a path. The token has been checked.
  return reply.redirect(query.size > 0 ? `${token}?${query}` : token, 303);
}

/**
 * Whether another site has sent the form. It would have to know the token, so this is a second line of defence. Because of
 * the referrer policy, browsers send the origin `null` from the page itself.
 */
function isFromOtherSite({ headers }: FastifyRequest, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin';
  const { origin } = headers;
  return origin !== undefined && origin !== 'null' && origin !== new URL(publicUrl).origin;
}

function logProblem(problem: Problem, request: FastifyRequest): void {
  request.problem = problem;
  logFailure(problem, request);
}

function sendHtml(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(text);
}
