import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../problems/problem.ts';
import { type Reason, reasons } from '../../problems/reasons.ts';
import { addHtmlPages } from './html-pages.ts';
import { problemPage, problemsPage } from './problem-page.ts';
import { pageAllowances } from './style.ts';

/** Serves `/problems/{reason}`, the pages that `type` of a problem document links to, and `/problems/`, which lists them. */
export async function addProblemPages(app: FastifyInstance): Promise<void> {
  const linksOf = (request: FastifyRequest) => app.pageLinks?.(request) ?? [];
  await addHtmlPages(app, { ...pageAllowances, 'script-src': ["'none'"] }, (pages) => {
    pages.get('/problems', async (_request, reply) => reply.redirect('/problems/', 301));
    pages.get('/problems/', async (request, reply) =>
      reply.type('text/html; charset=utf-8').send(problemsPage(linksOf(request))),
    );
    pages.get('/problems/:reason', async (request, reply) => {
      const { reason } = request.params as { reason: string };
      if (!Object.hasOwn(reasons, reason)) throw new Problem('route_not_found');
      return reply.type('text/html; charset=utf-8').send(problemPage(reason as Reason, linksOf(request)));
    });
  });
}
