import type { FastifyInstance } from 'fastify';
import { Problem } from '../../problems/problem.ts';
import { type Reason, reasons } from '../../problems/reasons.ts';
import { addHtmlPages } from './html-pages.ts';
import { problemPage } from './problem-page.ts';

/** Serves `/problems/{reason}`, the pages that `type` of a problem document links to. */
export async function addProblemPages(app: FastifyInstance): Promise<void> {
  await addHtmlPages(app, {}, (pages) =>
    pages.get('/problems/:reason', async (request, reply) => {
      const { reason } = request.params as { reason: string };
      if (!Object.hasOwn(reasons, reason)) throw new Problem('route_not_found');
      return reply.type('text/html; charset=utf-8').send(problemPage(reason as Reason));
    }),
  );
}
